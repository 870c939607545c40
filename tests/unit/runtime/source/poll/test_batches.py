"""Records as Arrow batches."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.connector.source import RecordShapes
from airflow_kconnect.connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    Shape,
    decimal_schema,
    struct,
)
from airflow_kconnect.connect.error_cells import error_from_column, record_error
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.runtime.conversion.header_stage import RAW, HeaderStage
from airflow_kconnect.runtime.source.poll import _arrow, _columns, _error_batch, _part
from tests.support.connectors.scripted_task import ID, PARTITION, POINT, SHAPES


def row_of(record: SourceRecord, shapes: RecordShapes = SHAPES, headers: HeaderStage = RAW) -> dict[str, Any]:
    rows: list[dict[str, Any]] = _arrow(_columns(shapes), shapes, [record], headers).to_pylist()
    (row,) = rows
    return row


class TestArrow:
    @pytest.mark.parametrize(
        ("changed", "column", "expected"),
        [
            pytest.param({}, "topic", "t", id="topic"),
            pytest.param({}, "partition", None, id="no partition"),
            pytest.param({"kafka_partition": 3}, "partition", 3, id="partition"),
            pytest.param({}, "timestamp", None, id="no timestamp"),
            pytest.param({"timestamp": 0}, "timestamp", 0, id="the first timestamp"),
            pytest.param({}, "headers", None, id="no headers"),
            pytest.param(
                {"headers": (("h", b"\xff"), ("h", None))},
                "headers",
                [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}],
                id="headers",
            ),
            pytest.param({"source_partition": None}, "source_partition", None, id="no source partition"),
            pytest.param({"source_offset": None}, "source_offset", None, id="no source offset"),
            pytest.param({}, "error", None, id="no error"),
        ],
    )
    def test_column(self, changed: dict[str, Any], column: str, expected: Any) -> None:
        fields = {"source_partition": PARTITION, "source_offset": {"n": 1}, "topic": "t", "value": None}
        assert row_of(SourceRecord(**{**fields, **changed}))[column] == expected

    @pytest.mark.parametrize(("column", "expected"), [("source_partition", PARTITION), ("source_offset", {"n": 1})])
    def test_source_partition_and_offset_are_json(self, column: str, expected: dict[str, Any]) -> None:
        assert json.loads(row_of(SourceRecord(PARTITION, {"n": 1}, "t", None))[column]) == expected

    def test_every_column_is_declared(self) -> None:
        expected = [
            "topic",
            "partition",
            "timestamp",
            "headers",
            "key_tag",
            "key_0",
            "key_1",
            "value_tag",
            "value_0",
            "value_1",
            "value_2",
            "source_partition",
            "source_offset",
            "error",
        ]
        assert _columns(SHAPES).names == expected

    def test_an_error_batch_has_the_same_columns(self) -> None:
        assert _error_batch(_columns(SHAPES), DataError("bad")).schema == _columns(SHAPES)

    def test_a_value_that_does_not_fit_is_an_error_of_the_record(self) -> None:
        price = decimal_schema(2)
        shapes = RecordShapes(SHAPES.keys, (Shape(price),))
        record = SourceRecord(PARTITION, {"n": 7}, "t", Decimal("0e-999999999"), price)
        row = row_of(record, shapes)
        assert error_from_column(row["error"], f"{ID}@7").args == (
            'bad record at {"id":0}@7: TASK_POLL by SourceTask: The value: Decimal has 999999999 digits after the'
            " point, but its schema has scale 2",
        )

    @pytest.mark.parametrize("value", [float("nan"), {"a": [float("-inf")]}, {"a": b"x"}])
    def test_a_value_without_schema_that_is_no_json_is_an_error_of_its_record_alone(self, value: Any) -> None:
        found = [SourceRecord(PARTITION, {"n": n}, "t", each) for n, each in enumerate([1, value, 2])]
        rows = _arrow(_columns(SHAPES), SHAPES, found, RAW).to_pylist()
        assert [row["value_2"] for row in rows] == ["1", None, "2"]
        assert [row["error"] is None for row in rows] == [True, False, True]
        bad = record_error(rows[1]["error"])
        assert bad is not None
        assert bad.message.startswith("The value: without a schema it must be JSON: ")

    def test_no_records_are_an_empty_batch(self) -> None:
        assert _arrow(_columns(SHAPES), SHAPES, [], RAW).num_rows == 0


class TestHeaders:
    SIMPLE = HeaderStage.of(SimpleHeaderConverter({}, is_key=False))

    def row(self, stage: HeaderStage, *values: Any) -> dict[str, Any]:
        headers = tuple(("h", value) for value in values)
        return row_of(SourceRecord(None, None, "t", None, headers=headers), headers=stage)

    def test_values_are_written_by_the_header_converter(self) -> None:
        row = self.row(self.SIMPLE, 5, "x", [1, True], date(2020, 1, 2))
        assert [cell["value"] for cell in row["headers"]] == [b"5", b"x", b"[1,true]", b"2020-01-02"]
        assert row["error"] is None

    def test_bytes_and_none_pass_as_they_are(self) -> None:
        row = self.row(self.SIMPLE, b"\xff", None)
        assert [cell["value"] for cell in row["headers"]] == [b"\xff", None]

    def test_what_cannot_be_written_is_an_error_of_the_record(self) -> None:
        error = record_error(self.row(RAW, b"x", 5)["error"])
        assert error is not None
        assert (error.stage, error.executing) == ("HEADER_CONVERTER", RAW.executing)
        assert "not compatible with objects of type int" in error.message


class TestPart:
    """The tagged union: the last shape is schemaless."""

    DECLARED = (Shape(STRING_SCHEMA), Shape(POINT))

    @pytest.mark.parametrize(
        ("schema", "value", "tag", "cells"),
        [
            pytest.param(None, None, None, (None, None, None), id="nothing at all"),
            pytest.param(STRING_SCHEMA, "x", 0, ("x", None, None), id="first shape"),
            pytest.param(POINT, {"x": 1}, 1, (None, {"x": 1}, None), id="second shape"),
            pytest.param(STRING_SCHEMA, None, 0, (None, None, None), id="null with a schema"),
            pytest.param(None, {"a": [1]}, 2, (None, None, json.dumps({"a": [1]})), id="schemaless object"),
            pytest.param(None, "x", 2, (None, None, '"x"'), id="schemaless text"),
            pytest.param(None, 0, 2, (None, None, "0"), id="schemaless zero"),
            pytest.param(None, False, 2, (None, None, "false"), id="schemaless false"),
        ],
    )
    def test_one_row(self, schema: Any, value: Any, tag: int | None, cells: tuple[Any, ...]) -> None:
        columns = _part("value", self.DECLARED, [(schema, value)])
        assert (columns["value_tag"], *(columns[f"value_{n}"] for n in range(3))) == (
            [tag],
            *([cell] for cell in cells),
        )

    def test_rows_keep_their_order(self) -> None:
        columns = _part("value", self.DECLARED, [(STRING_SCHEMA, "a"), (None, 1), (STRING_SCHEMA, "b")])
        assert columns["value_0"] == ["a", None, "b"]

    def test_an_equal_schema_is_the_declared_one(self) -> None:
        assert _part("value", self.DECLARED, [(struct(("x", INT64_SCHEMA)), {"x": 1})])["value_tag"] == [1]

    @pytest.mark.parametrize(
        "schema",
        [INT64_SCHEMA, STRING_SCHEMA.as_optional(), struct(("y", INT64_SCHEMA))],
        ids=["type", "optional", "field"],
    )
    def test_another_schema_is_an_error(self, schema: Any) -> None:
        with pytest.raises(DataError, match="a record's key has a schema that the connector did not declare"):
            _part("key", self.DECLARED, [(schema, None)])
