"""The replacement values of the MaskField transformation, in the form of schema defaults."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.values import EPOCH
from airflow_kconnect.converters.types import INTEGER_BITS, decimal_scale, logical_name
from airflow_kconnect.transforms.expressions.schemaless import java_class

_EMPTY: dict[SchemaType, Any] = {
    **dict.fromkeys(INTEGER_BITS, 0),
    SchemaType.FLOAT32: 0.0,
    SchemaType.FLOAT64: 0.0,
    SchemaType.BOOLEAN: False,
    SchemaType.STRING: "",
    SchemaType.ARRAY: (),
    SchemaType.MAP: {},
}
_BIG_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?")


def mask_value(schema: ConnectSchema, replacement: str | None) -> Any:
    """The value that masks values of the schema (``MaskField.masked``).

    :param replacement: the user's own; None: an empty value.
    :raises DataError: such values cannot be masked.
    """
    return _empty(schema) if replacement is None else _replaced(schema, replacement)


def _empty(schema: ConnectSchema) -> Any:
    match logical_name(schema):
        case name if name == TIMESTAMP:
            return EPOCH
        case name if name == DATE:
            return EPOCH.date()
        case name if name == DECIMAL:
            return _of_scale(schema, Decimal(0))
        case _ if schema.type in _EMPTY:
            return _EMPTY[schema.type]
        case _:
            raise DataError(f"Cannot mask value of type: class {java_class(schema)}")


def _replaced(schema: ConnectSchema, text: str) -> Any:
    match java_class(schema).rpartition(".")[2]:
        case "String":
            return text
        case "Byte" | "Short" | "Integer" | "Long":
            return _narrowed(_number(text), INTEGER_BITS[schema.type])
        case "Float" | "Double":
            return float(_number(text))
        case "BigDecimal":
            return _of_scale(schema, _number(text))
        case _:
            raise DataError(f"Cannot mask value of type class {java_class(schema)} with custom replacement.")


def _number(text: str) -> Decimal:
    if not _BIG_DECIMAL.fullmatch(text):
        raise DataError(f"Unable to convert {text} (class java.lang.String) to a number")
    return Decimal(text)


def _narrowed(number: Decimal, bits: int) -> int:
    """The lowest bits as a signed number; for 10 to the power of 64 they are all 0."""
    whole = 0 if _scale(number) <= -64 else int(number)
    sign = 1 << bits - 1
    return (whole + sign) % (2 * sign) - sign


def _of_scale(schema: ConnectSchema, number: Decimal) -> Decimal:
    """The number; Connect keeps its scale and later detects that it differs from the schema's."""
    expected, scale = decimal_scale(schema), _scale(number)
    if scale != expected:
        text = "Decimal value has mismatching scale for given Decimal schema."
        raise DataError(f"{text} Schema has scale {expected}, value has scale {scale}.")
    return number


def _scale(number: Decimal) -> int:
    return -int(number.as_tuple().exponent)
