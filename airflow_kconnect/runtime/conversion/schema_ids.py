"""Records whose schema a header names: its value goes before their bytes. Cells of records that a job does not know."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.converters.id_header import IdHeader
from airflow_kconnect.kafka.headers import Headers

if TYPE_CHECKING:
    from pyspark.sql import Column

_UNKNOWN = "\x01"
_BY_ID = "_id"


def named_array(data: pa.Array, ids: pa.Array | None) -> pa.Array:
    """Keys or values with what their headers say before them, where these say anything."""
    if ids is None:
        return data
    joined = pc.binary_join_element_wise(ids, data, pa.scalar(b"", pa.binary()))
    return pc.if_else(ids.is_valid(), joined, data)


def named_column(data: Column, ids: Column) -> Column:
    """The same with columns of a frame."""
    from pyspark.sql import functions as F

    return F.when(ids.isNull(), data).otherwise(F.concat(ids, data))


def ids_of(id_headers: Mapping[str, IdHeader], headers: Sequence[Headers]) -> dict[str, pa.Array]:
    """By part, what the headers of messages say about its schema; parts that they do not mention are left out."""
    by_part = {}
    for part, header in id_headers.items() if any(headers) else ():
        ids = pa.array([header.of(given) for given in headers], pa.binary())
        if ids.null_count < len(ids):
            by_part[part] = ids
    return by_part


def unknown_cells(part: str, ids: pa.Array, data: pa.Array, errors: Sequence[str | None]) -> list[str | None]:
    """The errors of messages; those whose header names a schema get one: they are of unknown shapes."""
    named = zip(errors, ids, named_array(data, ids), strict=True)
    return [
        f"{_UNKNOWN}{part}{_BY_ID} {base64.b64encode(message.as_py()).decode()}"
        if error is None and schema_id.is_valid and message.is_valid
        else error
        for error, schema_id, message in named
    ]


def unknown_column(part: str, data: Column) -> Column:
    """The error cell of a record of an unknown shape."""
    from pyspark.sql import functions as F

    return F.concat(F.lit(f"{_UNKNOWN}{part} "), F.base64(data))


def unknown_sample(cell: str) -> tuple[str, bytes] | None:
    """The (part, bytes) in an error cell that marks a record of an unknown shape, or None; see `part_of`."""
    if not cell.startswith(_UNKNOWN):
        return None
    part, _, text = cell[1:].partition(" ")
    return part, base64.b64decode(text)


def part_of(name: str) -> tuple[str, bool]:
    """``key`` or ``value``, and whether the data begin with what a header says."""
    return name.removesuffix(_BY_ID), name.endswith(_BY_ID)
