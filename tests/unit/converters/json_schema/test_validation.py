"""json.fail.invalid.schema: payloads that do not match their schema are errors."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema.format import JsonSchemaFormat
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.json_schema.corpus import CASES, INNER, Case, record, registered

AGE = {"type": "integer", "minimum": 0}
PERSON = record(("name", {"type": "string"}), ("age", AGE), required=["name"], additionalProperties=False)


def errors_of(schema: RegisteredSchema, *payloads: bytes) -> list[str | None]:
    decoder = JsonSchemaFormat({"json.fail.invalid.schema": True}).decoder(schema, b"")
    errors = pickle.loads(pickle.dumps(decoder)).decode(pa.array(payloads, pa.binary()))[1]  # noqa: S301
    return [None] * len(payloads) if errors is None else list(errors.to_pylist())


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b'{"name":"a"}', None),
        (b'{"name":"a","age":1}', None),
        (b'{"name":"a","age":-1}', "JSON does not match its schema: `minimum` fails at $.age"),
        (b'{"name":"a","age":"secret"}', "JSON does not match its schema: `type` fails at $.age"),
        (b"{}", "JSON does not match its schema: `required` fails at $"),
        (b'{"name":"a","other":1}', "JSON does not match its schema: `additionalProperties` fails at $"),
    ],
)
def test_a_payload_that_does_not_match_is_an_error_without_its_values(payload: bytes, problem: str | None) -> None:
    assert errors_of(registered(PERSON), payload) == [problem]


def test_without_the_key_payloads_are_not_validated() -> None:
    decoder = JsonSchemaFormat({}).decoder(registered(PERSON), b"")
    assert decoder.decode(pa.array([b'{"age":-1}'], pa.binary()))[1] is None


# An object without its property matches both objects of that union.
MATCHING = {name: case for name, case in CASES.items() if name != "union"}


@pytest.mark.parametrize("case", MATCHING.values(), ids=MATCHING.keys())
def test_correct_payloads_match(case: Case) -> None:
    assert errors_of(case.registered, *case.payloads) == [None] * len(case.payloads)


@pytest.mark.parametrize("root", [None, "http://x/root.json"])
def test_references_of_the_registry_are_followed(root: str | None) -> None:
    inner = registered(record(("d", {"$ref": "deeper.json"})), ("deeper.json", registered(AGE)))
    node = record(("i", {"$ref": "inner.json"})) | ({} if root is None else {"$id": root})
    schema = registered(node, ("inner.json", inner))
    assert errors_of(schema, b'{"i":{"d":1}}', b'{"i":{"d":-1}}') == [
        None,
        "JSON does not match its schema: `minimum` fails at $.i.d",
    ]


@pytest.mark.parametrize(
    ("node", "problem"),
    [({"type": "object", "required": "name"}, r"\$\.required"), (INNER | {"minProperties": "a"}, "minProperties")],
)
def test_an_invalid_schema_is_an_error(node: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        JsonSchemaFormat({"json.fail.invalid.schema": True}).shape_of(registered(node), b"")


def test_a_reference_that_is_not_read_may_be_missing() -> None:
    node = record(("a", {"type": "string"}), patternProperties={"^x": {"$ref": "http://no/where.json"}})
    errors = errors_of(registered(node), b'{"a":"b"}', b'{"x":1}')
    assert errors[0] is None and "http://no/where.json" in str(errors[1])


def test_what_is_written_must_match_the_schema_of_the_registry() -> None:
    format_ = JsonSchemaFormat({"json.fail.invalid.schema": True})
    shape = Shape(format_.shape_of(registered(PERSON), b"").schema)
    data = pa.array([{"name": "a", "age": 1}, {"name": "a", "age": -1}], arrow_type(shape.schema))
    payloads, errors = format_.encoder(registered(PERSON), shape).encode(data)
    assert payloads.to_pylist() == [b'{"name":"a","age":1}', None]
    assert errors is not None and "`minimum`" in errors[1].as_py()
