"""Schemas of rows whose key is some of their columns."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType


def row_schema(name: str, fields: tuple[Field, ...]) -> ConnectSchema:
    """The struct of a row. :param name: of its table; it is the struct's if it can be that."""
    return ConnectSchema(SchemaType.STRUCT, name=name if re.fullmatch(r"[A-Za-z_]\w*", name) else None, fields=fields)


def key_schema(value: ConnectSchema | None, names: Collection[str]) -> ConnectSchema | None:
    """The struct of a row's key, no part of which is null. :param value: that of the row; None: schemaless, as is the
    key.
    """
    own = [] if value is None else [field for field in value.fields if field.name in names]
    fields = [Field(field.name, replace(field.schema, optional=False)) for field in own]
    return ConnectSchema(SchemaType.STRUCT, fields=tuple(fields)) if fields else None
