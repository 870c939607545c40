"""What a new table is: pure rules, from a definition to what Iceberg is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.partitions import Transform, transform_of

if TYPE_CHECKING:
    from pyspark.sql import types as T

WAP, MODE, VERSION = "write.wap.enabled", "write.merge.mode", "format-version"
FANOUT, FANOUT_OPTION = "write.spark.fanout.enabled", "fanout-enabled"
"""Whether each task has a file open for each partition path, which is Iceberg's default; otherwise rows are sorted."""
MERGE_ON_READ, COPY_ON_WRITE = "merge-on-read", "copy-on-write"


def properties_of(definition: TableDefinition) -> dict[str, str]:
    """Properties of a new table: staging is always possible; the others are defaults.

    Deletions by key are merged when rows are read, as deletion vectors or position deletes by the format's version.
    Memory does not grow with partitions. Variants need version 3.
    """
    defaults = {MODE: MERGE_ON_READ} if definition.keys else {}
    if definition.partition_by:
        defaults[FANOUT] = "false"
    if _has_variant(definition.columns):
        defaults[VERSION] = "3"
    return {**defaults, **definition.properties, WAP: "true"}


def partitions(texts: Iterable[str]) -> list[Transform]:
    """:raises ConfigError: one of them is not a transform."""
    found, problems = [], []
    for text in texts:
        try:
            found.append(transform_of(text))
        except ValueError as error:
            problems.append(f"{text!r}: {error}")
    if problems:
        raise ConfigError({"table.partition.by": problems})
    return found


def identified(columns: T.StructType, keys: Sequence[str]) -> T.StructType:
    """The columns, those of the key not nullable, as Iceberg wants its identifier fields.

    They stay as they are if one is of a type that cannot identify a row.
    """
    from pyspark.sql import types as T

    unfit = (T.FloatType, T.DoubleType, T.ArrayType, T.MapType, T.StructType, T.VariantType)
    if any(isinstance(columns[key].dataType, unfit) for key in keys):
        return columns
    fields = [
        T.StructField(field.name, field.dataType, field.nullable and field.name not in keys, field.metadata)
        for field in columns.fields
    ]
    return T.StructType(fields)


def _has_variant(data_type: T.DataType) -> bool:
    from pyspark.sql import types as T

    if isinstance(data_type, T.StructType):
        return any(_has_variant(field.dataType) for field in data_type.fields)
    if isinstance(data_type, T.ArrayType):
        return _has_variant(data_type.elementType)
    if isinstance(data_type, T.MapType):
        return _has_variant(data_type.valueType)
    return isinstance(data_type, T.VariantType)
