"""What a run knows about messages with schemas of a registry: by their first bytes, which name the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.registered.compression import Inflating, inflated_message
from airflow_kconnect.converters.registered.format import Format, PayloadDecoder
from airflow_kconnect.registry.schema import Schemas
from airflow_kconnect.registry.wire import GLUE, Framing, SchemaName, framing_of, schema_name

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

    :param forms: what may stand before payloads, and the format of these.
    :param registry: asked for schemas.
    :param unknown: what is wrong with messages that begin with nothing of that.
    """

    def __init__(self, forms: Mapping[Framing, Format], registry: Schemas, unknown: str = UNKNOWN_MAGIC_BYTE) -> None:
        self.forms, self._registry, self.unknown = forms, registry, unknown
        self._by_prefix: dict[bytes, KnownSchema] = {}
        self.compressed = False
        """Whether there were messages whose type is selected within what is compressed."""
        self.careful = False
        """Whether there were payloads that could not be decoded: those that come are decoded again, for errors."""
        self.unselectable = False
        """Whether there were payloads that select no type: `selection_problem` tells why."""

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
        framing = framing_of(message, self.forms)
        name = None if framing is None else schema_name(message, framing)
        if framing is None or name is None:
            return None
        if _hides_type(framing, self.forms):
            self.compressed = True
        try:
            message, framing = _shown(message, framing, self.forms)
            payload = message[framing.size :]
            prefix = message[: framing.size] + self.forms[framing].selector(payload)
        except DataError:
            self.unselectable = True
            return None
        if prefix not in self._by_prefix:
            self._by_prefix[prefix] = self._asked(prefix, name, payload, framing)
        known = self._by_prefix[prefix]
        self.careful = self.careful or not _decodes(known, payload)
        return known

    def _asked(self, prefix: bytes, name: SchemaName, payload: bytes, framing: Framing) -> KnownSchema:
        form = self.forms[framing]
        try:
            schema = self._registry.schema(name)
            if schema.type != form.schema_type:
                raise DataError(f"it is of type {schema.type}, not {form.schema_type}")
            shape = form.shape_of(schema, payload)
            decoder = form.decoder(schema, payload)
            return KnownSchema(prefix, shape, Inflating(decoder) if framing.deflated else decoder)
        except DataError as error:
            shown = f"GUID {name}" if isinstance(name, UUID) else f"id {name}"
            return KnownSchema(prefix, None, None, f"Error retrieving the schema of {shown}: {error}")


def selection_problem(forms: Mapping[Framing, Format], message: bytes) -> str | None:
    """Why a message selects no type within its schema; None if it selects one, or has no schema."""
    framing = framing_of(message, forms)
    if framing is None or schema_name(message, framing) is None:
        return None
    try:
        message, framing = _shown(message, framing, forms)
        forms[framing].selector(message[framing.size :])
    except DataError as error:
        return str(error)
    return None


def _hides_type(framing: Framing, forms: Mapping[Framing, Format]) -> bool:
    """Whether what selects a type is compressed, with the payload."""
    return framing.deflated and forms[framing].selects


def _shown(message: bytes, framing: Framing, forms: Mapping[Framing, Format]) -> tuple[bytes, Framing]:
    """A message whose type is not hidden, and its framing. :raises DataError: it cannot be decompressed."""
    return (inflated_message(message), GLUE) if _hides_type(framing, forms) else (message, framing)


def _decodes(known: KnownSchema, payload: bytes) -> bool:
    """Whether a payload becomes data where it is read; null data look there as if they were not decoded."""
    import pyarrow as pa

    if known.decoder is None:
        return True
    data, errors = known.decoder.decode(pa.array([payload], pa.binary()))
    return errors is None and bool(data.is_valid()[0].as_py())
