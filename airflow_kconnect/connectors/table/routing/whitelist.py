"""`fields.whitelist`: values with only some of their fields."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from airflow_kconnect.connect.data import SchemaType, Shape
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.table.routing.routes import ERROR

if TYPE_CHECKING:
    from pyspark.sql import Column


def with_only(frame: RecordFrame, names: Collection[str]) -> RecordFrame:
    """The records with these fields of their values; no names: with all. Values without a schema are refused."""
    if not names or frame.value.absent:
        return frame
    columns: dict[str, Column] = {}
    shapes, refused = [], []
    for shape, name in zip(frame.value.shapes, frame.value.columns, strict=True):
        if shape.schema is None:
            refused.append(F.col(name).isNotNull())
        elif shape.schema.type is SchemaType.STRUCT:
            fields = tuple(each for each in shape.schema.fields if each.name in names)
            cells = [F.col(f"{name}.{quoted(each.name)}").alias(each.name) for each in fields]
            columns[name] = F.when(F.col(name).isNotNull(), F.struct(*cells))
            shape = Shape(replace(shape.schema, fields=fields))
        shapes.append(shape)
    if refused:
        text = F.lit(f"{ERROR}the value has no schema, which `fields.whitelist` needs: use a transformation instead")
        columns["error"] = F.coalesce(F.col("error"), *(F.when(is_refused, text) for is_refused in refused))
    return replace(frame.with_columns(columns), value=replace(frame.value, shapes=tuple(shapes)))
