"""What a run knows about messages with schemas of a registry: by their first bytes, which name the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.registered.format import Format, PayloadDecoder
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.wire import prefix_bytes, schema_guid, schema_id

UNKNOWN_MAGIC_BYTE = "Unknown magic byte!"
NEGATIVE_ID = "Error retrieving the schema of a negative id: no registry has one"


@dataclass(frozen=True)
class KnownSchema:
    """Messages that begin with the same bytes: magic byte, schema id, and what else selects the type.

    :param shape: None if nothing in Connect corresponds to the schema.
    :param decoder: of their payloads, which begin after the id; None if there is no shape.
    :param problem: what is wrong with the schema, for all these messages.
    """

    prefix: bytes
    shape: Shape | None
    decoder: PayloadDecoder | None
    problem: str = ""


class KnownMessages:
    """The schemas that messages have named so far. In the driver: it asks the registry, once for each.

    :param registry: asked for schemas by id.
    """

    def __init__(self, form: Format, registry: SchemaRegistry) -> None:
        self._format, self._registry = form, registry
        self._by_prefix: dict[bytes, KnownSchema] = {}
        self.careful = False
        """Whether there were payloads that could not be decoded: those that come are decoded again, for errors."""
        self.guids = False
        """Whether messages may begin with a GUID: those whose schema a header names."""
        self.unselectable = False
        """Whether there were payloads that select no type: `selection_problem` tells why."""

    @property
    def form(self) -> Format:
        return self._format

    def __iter__(self) -> Iterator[KnownSchema]:
        return iter(self._by_prefix.values())

    def learn(self, messages: Iterable[bytes | None]) -> list[Shape]:
        """The distinct shapes of messages; bad ones are skipped.

        :raises RetriableError: the registry is unavailable. :raises ConfigError: it refuses the credentials.
        """
        shapes: list[Shape] = []
        for message in messages:
            known = None if message is None else self._of(message)
            if known is not None and known.shape is not None and known.shape not in shapes:
                shapes.append(known.shape)
        return shapes

    def _of(self, message: bytes) -> KnownSchema | None:
        name = _schema_name(message, guids=self.guids)
        if name is None:
            return None
        end = prefix_bytes(message)
        payload = message[end:]
        try:
            prefix = message[:end] + self._format.selector(payload)
        except DataError:
            self.unselectable = True
            return None
        if prefix not in self._by_prefix:
            self._by_prefix[prefix] = self._asked(prefix, name, payload)
        known = self._by_prefix[prefix]
        self.careful = self.careful or not _decodes(known, payload)
        return known

    def _asked(self, prefix: bytes, name: int | UUID, payload: bytes) -> KnownSchema:
        try:
            if isinstance(name, UUID):
                schema = self._registry.schema_by_guid(name)
            else:
                schema = self._registry.schema_by_id(name)
            if schema.type != self._format.schema_type:
                raise DataError(f"it is of type {schema.type}, not {self._format.schema_type}")
            shape = self._format.shape_of(schema, payload)
            return KnownSchema(prefix, shape, self._format.decoder(schema, payload))
        except DataError as error:
            shown = f"GUID {name}" if isinstance(name, UUID) else f"id {name}"
            return KnownSchema(prefix, None, None, f"Error retrieving the schema of {shown}: {error}")


def _schema_name(message: bytes, *, guids: bool) -> int | UUID | None:
    """The id or GUID with which a message begins."""
    return (schema_guid(message) if guids else None) or schema_id(message)


def selection_problem(form: Format, message: bytes, *, guids: bool) -> str | None:
    """Why a message selects no type within its schema; None if it selects one, or has no schema."""
    if _schema_name(message, guids=guids) is None:
        return None
    try:
        form.selector(message[prefix_bytes(message) :])
    except DataError as error:
        return str(error)
    return None


def _decodes(known: KnownSchema, payload: bytes) -> bool:
    """Whether a payload becomes data where it is read; null data look there as if they were not decoded."""
    import pyarrow as pa

    if known.decoder is None:
        return True
    data, errors = known.decoder.decode(pa.array([payload], pa.binary()))
    return errors is None and bool(data.is_valid()[0].as_py())
