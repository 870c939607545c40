"""Rows of files as a configuration wants them: which columns, in which schema, and what keys and times are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.record_files.config import Shaping
from airflow_kconnect.connectors.record_files.formats.base import Rows
from airflow_kconnect.connectors.record_files.values import Errors, fitted
from airflow_kconnect.converters.types import arrow_type

KEY, TIME = "key", "timestamp"
"""Columns of a frame."""


def shaped_schema(own: ConnectSchema | None, shaping: Shaping) -> ConnectSchema | None:
    """Of values. :param own: of the file's rows."""
    if shaping.value is not None:
        return shaping.value
    return own if own is None or shaping.name is None else replace(own, name=shaping.name)


def shaped(rows: Rows, shaping: Shaping) -> Rows:
    """Rows with the members of the schema of values; a row that lacks one that is required is bad."""
    if (schema := shaping.value) is None:
        return rows
    type_, errors, is_bad = arrow_type(schema), Errors(), rows.values.is_null()
    members = [_member(rows.values, field) for field in type_]
    for field, texts in zip(schema.fields, members, strict=True):
        missing = pc.and_not(texts.is_null(), is_bad) if not field.schema.optional else pa.array([], pa.bool_())
        for row in np.flatnonzero(missing.to_numpy(zero_copy_only=False)):
            errors.setdefault(int(row), f"`{field.name}` is missing, and the schema of values requires it")
    errors |= rows.errors
    mask = is_bad.to_numpy(zero_copy_only=False).copy()
    mask[list(errors)] = True
    return Rows(pa.StructArray.from_arrays(members, fields=list(type_), mask=pa.array(mask)), errors)


def added_columns(shaping: Shaping) -> list[tuple[str, pa.DataType]]:
    """The columns with keys and times, as far as there are such."""
    keys = [] if shaping.key is None else [(KEY, arrow_type(shaping.key))]
    has_time = shaping.timestamp is not None or shaping.file_time
    return [*keys, *([(TIME, pa.int64())] if has_time else [])]


def added(values: pa.Array, shaping: Shaping, changed_ms: int) -> dict[str, pa.Array]:
    """These columns.

    :param values: as the frame has them. :param changed_ms: when the file was changed.
    """
    types = dict(added_columns(shaping))
    found = {KEY: _key(values, types[KEY])} if KEY in types else {}
    return found | ({TIME: _times(values, shaping, changed_ms)} if TIME in types else {})


def _key(values: pa.StructArray, type_: pa.StructType) -> pa.Array:
    members = [_member(values, field) for field in type_]
    return pa.StructArray.from_arrays(members, fields=list(type_), mask=values.is_null())


def _times(values: pa.Array, shaping: Shaping, changed_ms: int) -> pa.Array:
    if shaping.timestamp is None:
        return pa.array(np.full(len(values), changed_ms), pa.int64())
    times = pc.if_else(values.is_valid(), values.field(shaping.timestamp), None)  # a bad row may have any
    return times.cast(pa.timestamp("ms", times.type.tz), safe=False).cast(pa.int64())


def _member(values: pa.StructArray, field: pa.Field) -> pa.Array:
    """One member, null where there is none."""
    if values.type.get_field_index(field.name) < 0:
        return pa.nulls(len(values), field.type)
    return fitted(values.field(field.name), field.type)
