"""Headers that name the schema of a record's key or value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from airflow_kconnect.registry.wire import GUID, ID, decode_indexes, framing_of

_DAMAGED = b"\xff"


@dataclass(frozen=True)
class IdHeader:
    """A header whose value, in records that have it, names the schema in place of their first bytes.

    Where such a record is read, the value is put before its bytes: from there on, it is as if it had been there.
    Pickled into the tasks that read. Source: Confluent's ``DualSchemaIdDeserializer``.

    :param name: of the header.
    :param with_indexes: whether Protobuf's message indexes follow the id.
    """

    name: str
    with_indexes: bool = False

    def of(self, headers: Iterable[tuple[str, bytes | None]] | None) -> bytes | None:
        """What the last header of that name says; None if there is none. A damaged one names no schema."""
        last = None
        for name, value in headers or ():
            if name == self.name:
                last = value
        if last is None:
            return None
        return last if self._complete(last) else _DAMAGED

    def _complete(self, value: bytes) -> bool:
        framing = framing_of(value, (ID, GUID))
        if framing is None:
            return False
        end = framing.size
        if not self.with_indexes:
            return len(value) == end
        try:
            return decode_indexes(value[end:])[1] == len(value) - end
        except ValueError:
            return False


def named(message: bytes | None, schema_id: bytes | None) -> bytes | None:
    """A key or value with what its header says before it, if there is anything."""
    return message if message is None or schema_id is None else schema_id + message


class SchemaHeaders(ABC):
    """What a converter has if headers may name the schemas of its records."""

    @property
    @abstractmethod
    def id_header(self) -> IdHeader | None:
        """The header to look at: its value is put before the bytes that the converter gets."""

    @property
    @abstractmethod
    def id_header_written(self) -> str | None:
        """The name of the header for `Encoded.id`, if it is used."""

    @abstractmethod
    def expect_ids(self) -> None:
        """From now on there may be messages whose schema `id_header` names."""


def id_header_of(converter: object) -> IdHeader | None:
    """The header that may name the schema of a converter's records."""
    return converter.id_header if isinstance(converter, SchemaHeaders) else None


def expect_ids(converter: object) -> None:
    """From now on the converter may get messages whose schema a header names."""
    if isinstance(converter, SchemaHeaders):
        converter.expect_ids()
