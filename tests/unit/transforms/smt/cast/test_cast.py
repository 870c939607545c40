"""The configuration of Cast."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.data import SchemaType
from airflow_kconnect.transforms.smt.cast.cast import CastValue
from airflow_kconnect.transforms.smt.cast.spec import CastSpec, parse_spec

TARGETS = "[INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, BOOLEAN, STRING]"
NO_TYPE = (
    "Invalid value java.lang.IllegalArgumentException: No enum constant org.apache.kafka.connect.data.Schema.Type.{}"
    " for configuration Invalid type found in casting spec: {}"
)


@pytest.mark.parametrize(
    ("entries", "spec"),
    [
        (["int32"], CastSpec(SchemaType.INT32, {})),
        ([" Float64 :"], CastSpec(SchemaType.FLOAT64, {})),
        (["a:int8", "b : STRING"], CastSpec(None, {"a": SchemaType.INT8, "b": SchemaType.STRING})),
        ([":boolean"], CastSpec(None, {"": SchemaType.BOOLEAN})),
        (["a:int8", "a:int16"], CastSpec(None, {"a": SchemaType.INT16})),
    ],
)
def test_spec(entries: list[str], spec: CastSpec) -> None:
    assert parse_spec(entries) == spec


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ("", ["Must specify at least one field to cast."]),
        ("decimal", [NO_TYPE.format("DECIMAL", "decimal")]),
        ("a:int8,b:Text", [NO_TYPE.format("TEXT", "Text")]),
        (":", [NO_TYPE.format("", "")]),
        ("a:bytes", [f"Cast transformation does not support casting to BYTES; supported types are {TARGETS}"]),
        ("a:b:c", ["Invalid value [a:b:c] for configuration renames: Invalid rename mapping: a:b:c"]),
        (
            "a:int8,int8",
            [
                "Cast transformations that specify a type to cast the entire value to "
                "may only specify a single cast in their spec"
            ],
        ),
    ],
)
def test_wrong_spec(spec: str, errors: list[str]) -> None:
    [value, _] = CastValue.config().validate({"spec": spec})
    assert (value.name, value.errors) == ("spec", errors)


def test_spec_is_required() -> None:
    [value, nulls] = CastValue.config().validate({})
    missing = 'Missing required configuration "spec" which has no default value.'
    assert value.errors == [missing, "Must specify at least one field to cast."]
    assert nulls.value is True
