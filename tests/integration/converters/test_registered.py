"""Messages of a registered format that cannot be decoded are bad records; none of them ends a tolerant run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import STRING_SCHEMA, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import NO_HINTS, in_place
from airflow_kconnect.converters.registered.format import Format, PayloadEncoder
from airflow_kconnect.converters.registered.messages import KnownMessages
from airflow_kconnect.converters.registered.reading import decode
from airflow_kconnect.registry.schema import RegisteredSchema, UnknownSchemaError
from airflow_kconnect.registry.wire import ID, SchemaName

TEXT = Shape(STRING_SCHEMA)


@dataclass(frozen=True)
class TextDecoder:
    """The text after the selector; an empty one is wrong."""

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        texts = [payload[1:].decode() or None for payload in payloads.to_pylist()]
        errors = pa.array([None if text else "empty" for text in texts], pa.string())
        return pa.array(texts, pa.string()), errors if errors.null_count < len(errors) else None


class TextFormat(Format):
    """A payload is ``#`` and a text."""

    schema_type = "TEXT"

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef()

    def selector(self, payload: bytes) -> bytes:
        if payload[:1] != b"#":
            raise DataError("it selects nothing")
        return b"#"

    def shape_of(self, schema: RegisteredSchema, payload: bytes) -> Shape:
        return TEXT

    def schema_of(self, shape: Shape) -> RegisteredSchema:
        return RegisteredSchema("TEXT", "")

    def record_name(self, schema: RegisteredSchema) -> str | None:
        return None

    def decoder(self, schema: RegisteredSchema, payload: bytes) -> TextDecoder:
        return TextDecoder()

    def encoder(self, schema: RegisteredSchema, shape: Shape) -> PayloadEncoder:
        raise NotImplementedError


class Schemas:
    """Has the schemas 1 and 2."""

    def __init__(self) -> None:
        self.asked: list[SchemaName] = []

    def schema(self, name: SchemaName) -> RegisteredSchema:
        self.asked.append(name)
        if name not in (1, 2):
            raise UnknownSchemaError("not here")
        return RegisteredSchema("TEXT", "")


def _decoded(
    spark: SparkSession, known: KnownMessages, messages: Sequence[bytes | None]
) -> list[tuple[str | None, str | None]]:
    """Value and error of each, when all of them have been looked at."""
    known.learn(messages)
    rows = spark.createDataFrame([(n, message) for n, message in enumerate(messages)], "n int, raw binary")
    found = decode(F.col("raw"), [TEXT], known, in_place, NO_HINTS)
    shown = rows.select("n", found.columns[0].alias("value"), found.error.alias("error")).orderBy("n").collect()
    return [(row.value, row.error) for row in shown]


def test_each_bad_message_has_its_reason(spark: SparkSession) -> None:
    messages = [
        ID.prefix(1) + b"#one",
        None,
        b"text",
        b"\0\0\0",
        b"\0\xff\xff\xff\xff#negative",
        ID.prefix(9) + b"#unknown",
        ID.prefix(1) + b"?",
        ID.prefix(2),
        ID.prefix(2) + b"#",
        ID.prefix(2) + b"#two",
    ]

    assert _decoded(spark, KnownMessages({ID: TextFormat({})}, Schemas()), messages) == [
        ("one", None),
        (None, None),
        (None, "Unknown magic byte!"),
        (None, "Unknown magic byte!"),
        (None, "Error retrieving the schema of a negative id: no registry has one"),
        (None, "Error retrieving the schema of id 9: not here"),
        (None, "it selects nothing"),
        (None, "it selects nothing"),
        (None, "empty"),
        ("two", None),
    ]


def test_schemas_of_one_shape_are_asked_for_once_and_make_one_shape() -> None:
    schemas = Schemas()
    known = KnownMessages({ID: TextFormat({})}, schemas)

    shapes = known.learn(
        [ID.prefix(1) + b"#a", ID.prefix(2) + b"#b", ID.prefix(1) + b"#c", ID.prefix(9) + b"#", ID.prefix(9) + b"#"]
    )

    assert (shapes, schemas.asked) == ([TEXT], [1, 2, 9])
