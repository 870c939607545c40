"""Rows of a DataFrame: their types are those that Spark expects, and each record becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from airflow_kconnect.connect.connector.source import RecordShapes
from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runtime.conversion.header_stage import RAW
from airflow_kconnect.runtime.source.poll import _arrow, _columns
from airflow_kconnect.spark.rows import Rows

KINDS = {
    **{type_.value: ConnectSchema(type_) for type_ in SchemaType if type_.value not in ("array", "map", "struct")},
    "decimal": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"}),
    "date": ConnectSchema(SchemaType.INT32, name=DATE),
    "timestamp": ConnectSchema(SchemaType.INT64, name=TIMESTAMP),
    "array": ConnectSchema(SchemaType.ARRAY, value_schema=struct(("x", INT64_SCHEMA))),
    "map": ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT64_SCHEMA),
    "struct": struct(("y", struct(("x", INT64_SCHEMA)))),
}
POINT = struct(("x", INT64_SCHEMA))
PARTITION = {"p": 1}


def record(value: Any, schema: ConnectSchema | None = POINT, topic: str = "t", **parts: Any) -> SourceRecord:
    return SourceRecord(PARTITION, {"n": 1}, topic, value, None if value is None else schema, **parts)


def rows_of(
    *records: SourceRecord,
    value: ConnectSchema | None = POINT,
    declared: tuple[ConnectSchema, ...] = (POINT,),
    **rows: Any,
) -> list[dict[str, Any]]:
    shapes = RecordShapes((Shape(INT64_SCHEMA),), tuple(map(Shape, declared)))
    batch = _arrow(_columns(shapes), shapes, records, RAW)
    made = Rows(shapes, value, INT64_SCHEMA, **rows).of(batch)
    answer: list[dict[str, Any]] = made.to_pylist()
    return answer


def arrow_schema(schema: StructType) -> pa.Schema:
    """As Spark compares it with that of the first batch."""
    try:
        return to_arrow_schema(schema, timezone="UTC")
    except TypeError:  # before 4.2
        return to_arrow_schema(schema)


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Iterator[ConnectSchema]:
    return KINDS[request.param]  # type: ignore[return-value]


@pytest.mark.parametrize("metadata", [True, False])
@pytest.mark.parametrize("wrapped", [True, False])
def test_columns_have_the_types_that_spark_expects(kind: ConnectSchema, metadata: bool, wrapped: bool) -> None:
    schema = struct(("v", kind)) if wrapped else kind
    rows = Rows(RecordShapes((Shape(kind),), (Shape(schema),)), schema, kind, metadata)
    assert rows._arrow_schema.equals(arrow_schema(rows.spark_schema))


def test_a_struct_has_a_column_for_each_field() -> None:
    assert rows_of(record({"x": 1}), record({"x": 2})) == [{"x": 1}, {"x": 2}]


def test_any_other_value_is_one_column() -> None:
    assert rows_of(record("a", STRING_SCHEMA), value=STRING_SCHEMA, declared=(STRING_SCHEMA,)) == [{"value": "a"}]


def test_a_value_without_a_schema_is_its_json() -> None:
    assert rows_of(record({"a": [1]}, None), value=None, declared=()) == [{"value": '{"a": [1]}'}]


def test_a_tombstone_is_a_row_of_nulls() -> None:
    assert rows_of(record(None)) == [{"x": None}]


def test_with_metadata_a_row_has_the_parts_of_a_record() -> None:
    parts: dict[str, Any] = {
        "key": 7,
        "key_schema": INT64_SCHEMA,
        "timestamp": 1_767_225_600_000,
        "headers": (("h", b"x"),),
    }
    assert rows_of(record({"x": 1}, **parts), metadata=True) == [
        {
            "key": 7,
            "value": {"x": 1},
            "topic": "t",
            "partition": '{"p": 1}',
            "offset": '{"n": 1}',
            "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
            "headers": [{"key": "h", "value": b"x"}],
        }
    ]


def test_only_records_of_the_topics_become_rows() -> None:
    assert rows_of(record({"x": 1}), record({"x": 2}, topic="other"), topics=("other",)) == [{"x": 2}]


def test_a_value_of_another_schema_is_an_error_that_says_where() -> None:
    with pytest.raises(DataError) as caught:
        rows_of(record({"x": 1}), record("a", STRING_SCHEMA), declared=(POINT, STRING_SCHEMA))
    text = 'the value of a record of topic t at source partition {"p": 1} offset {"n": 1} is a string'
    assert str(caught.value).startswith(text)


def test_a_value_without_a_schema_among_others_is_an_error() -> None:
    with pytest.raises(DataError, match="is without a schema, and in the DataFrame it is a struct"):
        rows_of(record({"x": 1}), record({"x": 1}, None))


def test_a_key_of_another_schema_matters_only_if_it_is_read() -> None:
    keyed = record({"x": 1}, key="text")
    assert rows_of(keyed) == [{"x": 1}]
    with pytest.raises(DataError, match="the key of a record"):
        rows_of(keyed, metadata=True)


def test_a_time_that_cannot_be_in_milliseconds_is_an_error() -> None:
    with pytest.raises(DataError, match="milliseconds since 1970"):
        rows_of(record({"x": 1}, timestamp=2**62), metadata=True)


def test_values_stay_what_they_are() -> None:
    schema = struct(("d", KINDS["decimal"]), ("day", KINDS["date"]))
    value = {"d": Decimal("1.25"), "day": date(2026, 1, 1)}
    assert rows_of(record(value, schema), value=schema, declared=(schema,)) == [value]
