"""Rows of a table as records: their values, their keys, and tombstones for rows that were deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.frame import ABSENT, RecordFrame, Union, single
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.table.source.change_logs import DELETED, KIND, ORDER, unkeyed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import types as T


def record_frame(rows: DataFrame, table: str, keys: Sequence[str], topic: str) -> RecordFrame:
    """The frame of rows with `KIND`.

    :param table: its name in messages. :param keys: columns that become the records' keys.
    """
    from pyspark.sql import functions as F

    from airflow_kconnect.connect.error_cells import error_cell
    from airflow_kconnect.connectors.table.source.schemas import value_of

    fields = {f.name: f for f in rows.schema.fields if f.name not in (KIND, ORDER)}
    deleted = F.col(KIND) == DELETED

    def struct(names: Sequence[str]) -> Column:
        return F.struct(*(value_of(F.col(quoted(name)), fields[name].dataType).alias(name) for name in names))

    error = F.lit(None).cast("string") if keys else F.when(deleted, F.lit(error_cell(unkeyed(table))))
    value = F.when(~deleted, struct(list(fields))) if keys else struct(list(fields))
    columns = [value.alias("value"), F.lit(None).cast("long").alias("progress"), error.alias("error")]
    columns += [struct(keys).alias("key")] if keys else []
    columns += [F.when(~deleted, F.lit(0)).alias("tag")] if keys else []
    shape = Shape(_struct(fields, list(fields)))
    return RecordFrame(
        rows.select(*columns),
        value=Union((shape,), ("value",), "tag") if keys else single(shape, "value"),
        key=single(Shape(_struct(fields, keys)), "key") if keys else ABSENT,
        constant_topic=topic,
        carried=("progress", "error"),
    )


def _struct(fields: Mapping[str, T.StructField], names: Sequence[str]) -> ConnectSchema:
    from airflow_kconnect.connectors.table.source.schemas import schema_of

    members = tuple(Field(n, schema_of(n, fields[n].dataType, optional=fields[n].nullable)) for n in names)
    return ConnectSchema(SchemaType.STRUCT, fields=members)
