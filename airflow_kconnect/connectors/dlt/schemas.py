"""Connect's schemas of tables whose hints say the types of all columns, and rows as such schemas have them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    decimal_schema,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.dlt.values import is_null, plain
from airflow_kconnect.connectors.rows import row_schema

Columns = Mapping[str, Mapping[str, Any]]
"""The hints of a table's columns."""

# dlt's own where a column does not say it.
_DECIMAL_SCALE = 9
_SCHEMAS: Mapping[str, ConnectSchema] = {
    "text": STRING_SCHEMA,
    "double": FLOAT64_SCHEMA,
    "bool": BOOLEAN_SCHEMA,
    "bigint": INT64_SCHEMA,
    "binary": BYTES_SCHEMA,
    "json": STRING_SCHEMA,
    "timestamp": TIMESTAMP_SCHEMA,
    "date": DATE_SCHEMA,
    "time": TIME_SCHEMA,
}


def declared_schema(table: str, columns: Columns) -> ConnectSchema | None:
    """The struct of a table's rows; None if the type of a column is not declared, or there are no columns."""
    fields = []
    for name, hints in columns.items():
        schema = _schema(hints)
        if schema is None:
            return None
        needed = hints.get("primary_key") or not hints.get("nullable", True)
        fields.append(Field(name, schema if needed else schema.as_optional()))
    return row_schema(table, tuple(fields)) if fields else None


def _schema(hints: Mapping[str, Any]) -> ConnectSchema | None:
    kind = hints.get("data_type", "")
    if kind in ("decimal", "wei"):
        return decimal_schema(0 if kind == "wei" else hints.get("scale", _DECIMAL_SCALE))
    return _SCHEMAS.get(kind)


class RowWriter:
    """Makes of rows what Arrow expects for a declared schema; values of other types are converted as dlt does it.

    :param schema: what the driver has declared; hints that came later do not change it.
    """

    def __init__(self, resource: str, columns: Columns, schema: ConnectSchema) -> None:
        self._resource = resource
        self._types = {field.name: columns[field.name]["data_type"] for field in schema.fields}

    def written(self, row: Mapping[str, Any]) -> dict[str, Any] | DataError:
        """The row; or why it has none of the schema, which is an error of its record."""
        unknown = sorted(set(row) - set(self._types))
        if unknown:
            text = f"resource {self._resource} does not declare {', '.join(unknown)}, which this record has"
            return DataError(f"{text}: declare it by `dlt.hints.{self._resource}`, or set `dlt.schemas` to none")
        found = {}
        for name, value in row.items():
            try:
                found[name] = None if is_null(value) else _converted(self._types[name], value)
            except (ValueError, TypeError):
                kind = type(value).__name__
                return DataError(f"column {name} is declared as {self._types[name]}, which this {kind} is not")
        return found


def _converted(kind: str, value: Any) -> Any:
    if kind == "json":
        return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
    from dlt.common.data_types.type_helpers import coerce_value, py_type_to_sc_type

    convert: Callable[..., Any] = coerce_value
    found = convert("decimal" if kind == "wei" else kind, py_type_to_sc_type(type(value)), value)
    if kind == "time":
        return ((found.hour * 60 + found.minute) * 60 + found.second) * 1000 + found.microsecond // 1000
    return found
