"""Statements that create and change Delta tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.columns.types import nullable
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.identifiers import column_path, quoted, text_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPE_WIDENING = "delta.enableTypeWidening"
_MAPPING, _DELETION_VECTORS = "delta.columnMapping.mode", "delta.enableDeletionVectors"
_NEEDS_MAPPING = re.compile(r"[ ,;{}()\n\t=]")
_FEATURES = {T.TimestampNTZType: "timestampNtz", T.VariantType: "variantType"}
_CLUSTER = re.compile(r"cluster\((.*)\)", re.IGNORECASE)


def creation(spark: SparkSession, name: str, definition: TableDefinition) -> str:
    """`CREATE TABLE IF NOT EXISTS`.

    :raises ValueError: the partitions are none that Delta has.
    """
    parts = [
        f"CREATE TABLE IF NOT EXISTS {name} ({_java_type(spark, _enforced(definition.columns)).toDDL()}) USING delta"
    ]
    partitioned, clustered = _layout(definition.partition_by, definition.columns.names)
    if partitioned:
        parts.append(f"PARTITIONED BY ({', '.join(map(quoted, partitioned))})")
    if clustered:
        parts.append(f"CLUSTER BY ({', '.join(map(quoted, clustered))})")
    if definition.location:
        parts.append(f"LOCATION {text_literal(definition.location)}")
    if properties := _properties(definition):
        parts.append(f"TBLPROPERTIES ({_assignments(properties)})")
    return " ".join(parts)


def changes(spark: SparkSession, name: str, wanted: Sequence[Change]) -> Iterator[str]:
    """`ALTER TABLE`, in the order in which they have to be run; all new columns at once."""
    if added := [_added(spark, change) for change in wanted if change.kind == "add"]:
        yield f"ALTER TABLE {name} ADD COLUMNS ({', '.join(added)})"
    for change in wanted:
        path = _path(change)
        if change.kind == "widen" and change.type is not None:
            yield f"ALTER TABLE {name} ALTER COLUMN {path} TYPE {_java_type(spark, change.type).sql()}"
        elif change.kind == "optional":
            yield f"ALTER TABLE {name} ALTER COLUMN {path} DROP NOT NULL"


def setting(name: str, properties: Mapping[str, str]) -> str:
    """Set properties of a table."""
    return f"ALTER TABLE {name} SET TBLPROPERTIES ({_assignments(properties)})"


def features(wanted: Sequence[Change]) -> list[str]:
    """Features of Delta that the types of changes need."""
    types = [type_ for change in wanted if change.type is not None for type_ in _all_types(change.type)]
    return [name for class_, name in _FEATURES.items() if any(isinstance(type_, class_) for type_ in types)]


def _added(spark: SparkSession, change: Change) -> str:
    assert change.type is not None
    comment = f" COMMENT {text_literal(change.comment)}" if change.comment else ""
    return f"{_path(change)} {_java_type(spark, nullable(change.type)).sql()}{comment}"


def _enforced(columns: T.StructType) -> T.StructType:
    """What Delta can require: no members, since it wants those of a struct that is null too, and none in arrays."""
    return T.StructType([T.StructField(e.name, nullable(e.dataType), e.nullable, e.metadata) for e in columns.fields])


def _path(change: Change) -> str:
    return column_path(change.path)


def _layout(partition_by: Sequence[str], columns: Collection[str]) -> tuple[list[str], list[str]]:
    """Columns of partitions, and those of clusters: Delta has either. :raises ValueError: see `creation`."""
    clustered = [
        name.strip() for part in partition_by if (match := _CLUSTER.fullmatch(part)) for name in match[1].split(",")
    ]
    partitioned = [part for part in partition_by if not _CLUSTER.fullmatch(part)]
    if clustered and partitioned:
        raise ValueError("a Delta table has either partitions or `cluster(...)`")
    if unknown := [part for part in (*clustered, *partitioned) if part not in columns]:
        raise ValueError(
            f"{', '.join(unknown)}: a Delta table is partitioned by columns, or clustered by them: `cluster(a, b)`"
        )
    return partitioned, clustered


def _properties(definition: TableDefinition) -> dict[str, str]:
    properties = {}
    if definition.keys:
        properties[_DELETION_VECTORS] = "true"  # a change of a row then does not write its file again
    if any(_NEEDS_MAPPING.search(name) for name in _names(definition.columns)):
        properties[_MAPPING] = "name"
    return {**properties, **definition.properties}


def _names(type_: T.DataType) -> Iterator[str]:
    return (field.name for each in _all_types(type_) if isinstance(each, T.StructType) for field in each.fields)


def _all_types(type_: T.DataType) -> Iterator[T.DataType]:
    """The type, and those of what is in it."""
    yield type_
    match type_:
        case T.StructType():
            inner = [field.dataType for field in type_.fields]
        case T.ArrayType():
            inner = [type_.elementType]
        case T.MapType():
            inner = [type_.keyType, type_.valueType]
        case _:
            inner = []
    for each in inner:
        yield from _all_types(each)


def _assignments(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{text_literal(key)} = {text_literal(value)}" for key, value in sorted(properties.items()))


def _java_type(spark: SparkSession, type_: T.DataType) -> Any:
    jvm = spark._jvm
    assert jvm is not None
    return jvm.org.apache.spark.sql.types.DataType.fromJson(type_.json())
