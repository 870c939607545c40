"""Attributes of Avro schemas that keep what Avro does not have of Connect's schemas."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.defaults import InvalidDefault, default_to_avro
from airflow_kconnect.converters.types import decimal_scale, logical_name

_LOGICAL = {DATE: "date", TIME: "time-millis", TIMESTAMP: "timestamp-millis"}


def annotated(schema: ConnectSchema, node: dict[str, Any], settings: AvroSettings) -> dict[str, Any]:
    """A type with the attributes that its Connect schema needs, in AvroData's order."""
    if settings.connect_meta_data:
        node.update(_meta_data(schema, settings))
    node.update(_logical_type(schema))
    for key, value in (schema.parameters or {}).items():
        if key.startswith("avro"):
            node[key] = value
    return node


def _meta_data(schema: ConnectSchema, settings: AvroSettings) -> dict[str, Any]:
    small = schema.type in (SchemaType.INT8, SchemaType.INT16)
    attributes = {
        "connect.doc": schema.doc,
        "connect.version": schema.version,
        **parameters(schema, settings),
        "connect.default": _default(schema, settings),
        "connect.name": schema.name,
        "connect.type": schema.type.value if small else None,
    }
    return {key: value for key, value in attributes.items() if value is not None}


def parameters(schema: ConnectSchema, settings: AvroSettings) -> dict[str, Any]:
    """The attribute ``connect.parameters``, if it is needed."""
    discard = settings.discard_type_doc_default
    given = {k: v for k, v in (schema.parameters or {}).items() if discard or k != names.FIELD_DEFAULT}
    return {"connect.parameters": given} if given else {}


def _default(schema: ConnectSchema, settings: AvroSettings) -> Any:
    of_field = names.FIELD_DEFAULT in (schema.parameters or {})
    if schema.default is None or (of_field and not settings.discard_type_doc_default):
        return None
    try:
        return default_to_avro(schema, schema.default, settings)
    except InvalidDefault:
        return None


def decimal_properties(schema: ConnectSchema) -> dict[str, Any]:
    """Scale and precision of a Decimal. :raises DataError: they are invalid."""
    if logical_name(schema) != DECIMAL:
        return {}
    return {"scale": decimal_scale(schema), "precision": _precision(schema)}


def _precision(schema: ConnectSchema) -> int:
    text = (schema.parameters or {}).get(names.PRECISION, str(names.DEFAULT_PRECISION))
    if not text.isdecimal():
        raise DataError(f"`{names.PRECISION}` of a Decimal schema is {text}, expected a number of digits")
    return int(text)


def _logical_type(schema: ConnectSchema) -> dict[str, Any]:
    name = logical_name(schema)
    if name == DECIMAL:
        return {"logicalType": "decimal"}
    return {"logicalType": _LOGICAL[name]} if name in _LOGICAL else {}
