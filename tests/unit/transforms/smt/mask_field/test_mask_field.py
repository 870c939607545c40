"""The configuration of MaskField, and the values that it puts in the place of others."""

from __future__ import annotations

from decimal import Decimal
from math import inf
from typing import Any

import pytest

from airflow_kconnect.connect.data import DECIMAL, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.transforms.smt.mask_field.mask_field import MaskFieldValue
from airflow_kconnect.transforms.smt.mask_field.values import mask_value

TIMESTAMP_SCHEMA = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)


def of(type_: SchemaType) -> ConnectSchema:
    return ConnectSchema(type_)


def decimal(scale: int) -> ConnectSchema:
    return ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": str(scale)})


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({"fields": "a,b"}, {}),
        (
            {"fields": ""},
            {"fields": "Configuration 'fields' must not be empty. Valid values include: any non-empty value"},
        ),
        ({"fields": "a,a"}, {"fields": "Configuration 'fields' values must not be duplicated."}),
        (
            {"fields": "a", "replacement": ""},
            {"replacement": "Invalid value  for configuration replacement: String must be non-empty"},
        ),
    ],
)
def test_configuration(config: dict[str, str], errors: dict[str, str]) -> None:
    messages = {value.name: value.errors for value in MaskFieldValue.config().validate(config) if value.errors}
    assert messages == {key: [message] for key, message in errors.items()}


@pytest.mark.parametrize(
    ("schema", "replacement", "value"),
    [
        (of(SchemaType.STRING), "***", "***"),
        (of(SchemaType.INT8), "300", 44),
        (of(SchemaType.INT64), "-3.75", -3),
        (of(SchemaType.INT64), "9223372036854775808", -(2**63)),
        (of(SchemaType.INT32), "1e999999999", 0),
        (of(SchemaType.FLOAT64), "-.5e1", -5.0),
        (of(SchemaType.FLOAT64), "1e400", inf),
        (decimal(2), "-1.50", Decimal("-1.50")),
    ],
)
def test_replacements(schema: ConnectSchema, replacement: str, value: Any) -> None:
    masked = mask_value(schema, replacement)
    assert (type(masked), masked) == (type(value), value)


@pytest.mark.parametrize(
    ("schema", "replacement", "text"),
    [
        (of(SchemaType.BYTES), None, "Cannot mask value of type: class [B"),
        (of(SchemaType.STRUCT), None, "Cannot mask value of type: class org.apache.kafka.connect.data.Struct"),
        (
            decimal(2),
            None,
            "Decimal value has mismatching scale for given Decimal schema. Schema has scale 2, value has",
        ),
        (
            decimal(2),
            "1.5",
            "Decimal value has mismatching scale for given Decimal schema. Schema has scale 2, value has",
        ),
        (of(SchemaType.BOOLEAN), "1", "Cannot mask value of type class java.lang.Boolean with custom replacement."),
        (TIMESTAMP_SCHEMA, "1", "Cannot mask value of type class java.util.Date with custom replacement."),
        (of(SchemaType.MAP), "1", "Cannot mask value of type class java.util.HashMap with custom replacement."),
        (of(SchemaType.INT8), "***", "Unable to convert *** (class java.lang.String) to a number"),
        (of(SchemaType.FLOAT32), " 1", "Unable to convert  1 (class java.lang.String) to a number"),
        (of(SchemaType.FLOAT32), "NaN", "Unable to convert NaN (class java.lang.String) to a number"),
        (decimal(0), "1_0", "Unable to convert 1_0 (class java.lang.String) to a number"),
    ],
)
def test_what_cannot_be_masked(schema: ConnectSchema, replacement: str | None, text: str) -> None:
    with pytest.raises(DataError) as caught:
        mask_value(schema, replacement)
    assert str(caught.value).startswith(text)
