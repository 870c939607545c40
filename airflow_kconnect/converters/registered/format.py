"""The contract of a format whose schemas are registered: schemas to and from Connect, payloads to and from Arrow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.registry.schema import RegisteredSchema

if TYPE_CHECKING:
    import pyarrow as pa


class PayloadDecoder(Protocol):
    """Decodes the payloads of one schema, a batch at a time, in a Spark task; pickled."""

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Decode payloads.

        :param payloads: BINARY without nulls: the messages without magic byte and id. Protobuf's begin with the
            message indexes.
        :returns: the data, in the `arrow_type` of the shape's schema; and the errors (STRING, null where there is
            none), or None if no payload has one. Data in rows with an error are null.
        """


class PayloadEncoder(Protocol):
    """Encodes data of one shape, a batch at a time, in a Spark task; pickled."""

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Encode data.

        :param data: in the `arrow_type` of the shape's schema. A null is encoded as the schema says: the caller makes
            the null bytes of tombstones.
        :returns: the payloads (BINARY) and the errors, as for `PayloadDecoder.decode`.
        """


class Format(ABC):
    """What is particular to Avro, Protobuf or JSON Schema. Created once per run and record part, in the driver; pickled
    into tasks.

    :param values: parsed values of `config`, without the converter's prefix.
    """

    schema_type: ClassVar[str]
    """What the registry calls it: ``AVRO``, ``PROTOBUF``, ``JSON``."""

    language: ClassVar[str]
    """What users call it."""

    selects: ClassVar[bool] = False
    """Whether the first bytes of a payload select a type within the schema; then `selector` says which bytes."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def data_schema(self, shape: Shape) -> ConnectSchema:
        """The schema of data of a shape. :raises DataError: they have none."""
        if shape.schema is None:
            raise self.no_schema()
        return shape.schema

    def no_schema(self) -> DataError:
        """The error for data without a schema."""
        return DataError(
            f"Data without a schema cannot be converted to or from {self.language}: use JsonConverter, or data with a "
            "schema"
        )

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef:
        """The format's own keys, without those of the registry. Called at validation."""

    def selector(self, payload: bytes) -> bytes:
        """The first bytes of a payload that select a type within the schema: Protobuf's message indexes.

        :raises DataError: they are not what the format prescribes.
        """
        return b""

    @abstractmethod
    def shape_of(self, schema: RegisteredSchema, payload: bytes) -> Shape:
        """The shape of data that were written with a schema.

        :param payload: one message without magic byte and id; Protobuf's message indexes select the message type.
        :raises DataError: the schema cannot be understood, or has nothing in Connect that corresponds to it.
        """

    @abstractmethod
    def schema_of(self, shape: Shape) -> RegisteredSchema:
        """The schema to register for data of a shape.

        :raises DataError: data of that shape cannot be written.
        """

    @abstractmethod
    def record_name(self, schema: RegisteredSchema) -> str | None:
        """The full name of the record or message, for RecordNameStrategy; None if it has none."""

    @abstractmethod
    def decoder(self, schema: RegisteredSchema, payload: bytes) -> PayloadDecoder:
        """Decodes payloads written with this schema, of the message type that this payload has."""

    @abstractmethod
    def encoder(self, schema: RegisteredSchema, shape: Shape) -> PayloadEncoder:
        """Encodes data of a shape.

        :param schema: of `schema_of`, or the one that the registry has for the subject (``use.latest.version``).
        """
