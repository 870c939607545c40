"""What a function of `@transform` is called with, and what becomes of what it returns, without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import INT64_SCHEMA, ConnectSchema, struct
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.functions.transform import TransformSpec, _Call, transform

ROW = struct(("id", INT64_SCHEMA), optional=True)


def called(function: Callable[..., Any], schema: ConnectSchema | None, *rows: Any) -> list[dict[str, Any]]:
    """Data and error of each row."""
    spec: TransformSpec = transform(function).plugin_class.spec
    values = pa.array([json.dumps(row) for row in rows]) if schema is None else pa.array(rows, arrow_type(schema))
    found: list[dict[str, Any]] = _Call(spec, {}, schema, spec.schema or schema).called(values).to_pylist()
    return found


def with_list_parameter(record, fields: list[str]):  # type: ignore[no-untyped-def]
    return record


def test_a_list_among_the_other_parameters_does_not_make_a_function_of_batches() -> None:
    spec = transform(with_list_parameter).plugin_class.spec
    assert not spec.of_batches


def test_a_field_that_the_schema_does_not_have_is_an_error_and_not_lost() -> None:
    (found,) = called(lambda record: {**record, "more": 1}, ROW, {"id": 1})
    assert (found["data"], "it has a field `more`, which its schema does not have" in found["error"]) == (None, True)


class Unwritable:
    def model_dump(self) -> Any:
        raise ValueError("half of it is missing")


@pytest.mark.parametrize("schema", [None, ROW], ids=["without a schema", "with one"])
def test_what_cannot_be_written_is_an_error_of_its_record(schema: ConnectSchema | None) -> None:
    found = called(lambda record: record if record["id"] == 1 else Unwritable(), schema, {"id": 1}, {"id": 2})
    assert (found[0]["error"], "half of it is missing" in found[1]["error"]) == (None, True)


def type_of(record: dict[str, Any], type: str) -> dict[str, Any]:
    return record


def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "text"), [(type_of, "`type` is a key of all"), (nothing, "its first parameter gets the records")]
)
def test_a_function_that_cannot_be_a_transformation_is_refused(function: Callable[..., Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        transform(function)


def by_topic(record: dict[str, Any], topic: str) -> dict[str, Any]:
    return record


def test_a_transformation_may_have_a_key_that_connectors_have() -> None:
    assert transform(by_topic).plugin_class.config().parse({"topic": "a"}) == {"topic": "a"}


def inverted(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for record in records:
        record["id"] = 2 / record["id"]
    return records


def test_a_record_with_which_a_batch_fails_is_the_only_bad_one() -> None:
    found = called(inverted, None, {"id": 1}, {"id": 0}, {"id": 2})
    assert [row["error"] or json.loads(row["data"])["id"] for row in found] == [
        2,
        "ZeroDivisionError: division by zero",
        1,
    ]


def without_last(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return records[:-1]


def test_a_batch_of_another_length_is_an_error_of_all_its_records() -> None:
    found = called(without_last, None, {"id": 1}, {"id": 2})
    assert {row["error"] for row in found} == {"without_last was given 2 records and has returned 1"}
