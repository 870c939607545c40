"""Avro files: blocks of each codec, and the schema of several shapes."""

from __future__ import annotations

import io
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import (
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.cloud_storage.avro_files import AvroRows, schema_of

ROW = struct(("id", INT64_SCHEMA), ("name", STRING_SCHEMA))


def written(rows: pa.Array, codec: str, schema: ConnectSchema = ROW) -> bytes:
    file = io.BytesIO()
    writer = AvroRows(file, schema, codec)
    writer.write(rows)
    writer.finish()
    return file.getvalue()


def structs(count: int) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array(range(count)), pa.array(["x" * 100] * count)], ["id", "name"])


def test_large_batches_are_several_blocks() -> None:
    data = io.BytesIO(written(structs(50_000), "null"))
    blocks = [block.num_records for block in fastavro.block_reader(data)]
    assert len(blocks) > 3
    assert sum(blocks) == 50_000


def test_the_same_rows_make_the_same_file() -> None:
    assert written(structs(10), "deflate") == written(structs(10), "deflate")


def shapes(*schemas: ConnectSchema | None) -> list[Shape]:
    return [SCHEMALESS if schema is None else Shape(schema) for schema in schemas]


LIST = ConnectSchema(SchemaType.ARRAY, value_schema=INT32_SCHEMA)
LONGS = ConnectSchema(SchemaType.ARRAY, value_schema=INT64_SCHEMA)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (shapes(ROW), ROW),
        (shapes(STRING_SCHEMA), STRING_SCHEMA),
        (shapes(None), STRING_SCHEMA.as_optional()),
        (shapes(INT32_SCHEMA, INT64_SCHEMA), INT64_SCHEMA),
        (shapes(LIST, LONGS), LONGS),
        (
            shapes(struct(("a", INT32_SCHEMA)), struct(("a", INT64_SCHEMA), ("b", STRING_SCHEMA))),
            struct(("a", INT64_SCHEMA), ("b", STRING_SCHEMA.as_optional())),
        ),
        (
            shapes(None, struct(("a", INT32_SCHEMA))),
            struct(("value", STRING_SCHEMA.as_optional()), ("a", INT32_SCHEMA.as_optional())),
        ),
    ],
)
def test_schema_of_shapes(given: list[Shape], found: ConnectSchema) -> None:
    assert schema_of(given, alone="value", may_be_null=False) == found


def test_data_that_may_be_missing_are_optional() -> None:
    assert schema_of(shapes(STRING_SCHEMA), alone="value", may_be_null=True).optional
    assert all(field.schema.optional for field in schema_of(shapes(ROW), alone="value", may_be_null=True).fields)


@pytest.mark.parametrize(
    "given",
    [
        shapes(STRING_SCHEMA, INT64_SCHEMA),
        shapes(struct(("a", FLOAT64_SCHEMA)), struct(("a", INT64_SCHEMA))),
        shapes(struct(("a", LIST)), struct(("a", ConnectSchema(SchemaType.ARRAY, value_schema=STRING_SCHEMA)))),
    ],
)
def test_shapes_that_no_schema_holds(given: list[Shape]) -> None:
    with pytest.raises(DataError, match="in different records"):
        schema_of(given, alone="value", may_be_null=False)


def test_a_record_that_does_not_fit_is_an_error() -> None:
    rows: Any = pa.StructArray.from_arrays([pa.array([1]), pa.array([None], pa.string())], ["id", "name"])
    with pytest.raises(DataError, match="does not fit into an Avro file"):
        written(rows, "null")
