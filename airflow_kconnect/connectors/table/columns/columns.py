"""The columns that records need: those of the fields of all shapes, and those of Kafka's part of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import types as T

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.columns.evolution import EVOLVE
from airflow_kconnect.connectors.table.columns.schemaless import inferred_columns
from airflow_kconnect.connectors.table.columns.types import common, nullable
from airflow_kconnect.connectors.types import merged
from airflow_kconnect.converters.types import MAX_PRECISION, decimal_scale, logical_name, primitive_type, spark_type

COLUMNS, JSON, VARIANT = "columns", "json", "variant"
"""What can happen to values without a schema: columns for the members of objects, or one column for the whole."""
TOPIC, PARTITION, OFFSET, TIMESTAMP, KEY = "topic", "partition", "offset", "timestamp", "key"
METADATA: Mapping[str, T.DataType] = {
    TOPIC: T.StringType(),
    PARTITION: T.IntegerType(),
    OFFSET: T.LongType(),
    TIMESTAMP: T.TimestampType(),
}
"""Kafka's part of a record, and the types of its columns; that of the key depends on the keys."""
_PRECISION = "connect.decimal.precision"


@dataclass(frozen=True)
class ColumnSettings:
    """How records become columns.

    :param evolution: policy by kind of change, as for `evolution.changes`.
    :param metadata: part of a record (`METADATA`, `KEY`) -> name of its column.
    :param optional: columns are nullable even if fields are not.
    :param case_insensitive: fields find their columns in any case.
    :param key: fields of the keys that are columns as well, all if it is empty; a key that is not a struct has the
        first name. None: keys have no columns.
    :param value: name of the column of values that have no fields.
    :param schemaless: `COLUMNS`; `JSON`, `VARIANT`: values without a schema as a whole are in the column `value`;
        anything else: they are bad.
    :param executing: name of the connector, for dead letters.
    """

    evolution: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False
    case_insensitive: bool = False
    key: tuple[str, ...] | None = None
    value: str = "value"
    schemaless: str = COLUMNS
    executing: str = "airflow_kconnect.connectors.SparkTableSinkConnector"

    @property
    def fold(self) -> Callable[[str], str]:
        """Makes names of one column equal."""
        return str.lower if self.case_insensitive else str


def wanted_columns(frame: RecordFrame, settings: ColumnSettings, known: T.StructType | None) -> T.StructType:
    """The columns that hold the records of a frame. Types that no column holds together are those of the first shape
    with the field: the others' values do not fit.

    Schemaless values are looked at by a Spark job of its own, if the table can get columns for their members.

    :param known: the table's columns; None: it is to be created.
    """
    schemas = [shape.schema for shape in frame.value.shapes if shape.schema is not None]
    parts = [_columns(members_of(schema, settings.value)) for schema in schemas]
    if (schemaless := _schemaless(frame)) is not None:
        parts += _of_schemaless(frame, schemaless, settings, known)
    united = _united(parts, settings)
    keys = _united([_of_key(shape, settings) for shape in frame.key.shapes], settings)
    kept = {settings.fold(each.name) for each in (*keys.fields, *_metadata(frame, settings).fields)}
    others = [each for each in united.fields if settings.fold(each.name) not in kept]
    columns = [*_with_types(keys, united, settings), *others, *_metadata(frame, settings).fields]
    type_ = T.StructType(columns)
    return nullable(type_) if settings.optional else type_


def members_of(schema: ConnectSchema, name: str) -> ConnectSchema:
    """The fields that are columns: those of a struct, else one of that name with the value itself."""
    return schema if schema.type is SchemaType.STRUCT else struct((name, schema))


def key_members_of(schema: ConnectSchema, names: tuple[str, ...]) -> ConnectSchema:
    """The fields of a key that are columns.

    :param names: see `ColumnSettings.key`.
    :raises DataError: the keys are not structs, and there is no name.
    """
    if schema.type is SchemaType.STRUCT:
        return replace(schema, fields=tuple(each for each in schema.fields if not names or each.name in names))
    if not names:
        raise DataError(f"keys are {schema.type.value} and have no field: name the column of the key")
    return struct((names[0], schema))


def column_type(schema: ConnectSchema) -> T.DataType:
    """The type of a column for values of a schema: with the precision of decimals, comments, and what is required."""
    if logical_name(schema) == DECIMAL:
        text = (schema.parameters or {}).get(_PRECISION, "")
        scale = decimal_scale(schema)
        precision = int(text) if text.isdecimal() and 0 < int(text) <= MAX_PRECISION else MAX_PRECISION
        return T.DecimalType(max(precision, scale), scale)
    key, value = schema.key_schema, schema.value_schema
    match schema.type:
        case SchemaType.STRUCT:
            return T.StructType([_column(each) for each in schema.fields])
        case SchemaType.ARRAY if value is not None:
            return T.ArrayType(column_type(value), value.optional)
        case SchemaType.MAP if key is not None and value is not None:
            return T.MapType(column_type(key), column_type(value), value.optional)
    return spark_type(schema) if logical_name(schema) else primitive_type(schema.type)


def _column(each: Field) -> T.StructField:
    metadata = {"comment": each.schema.doc} if each.schema.doc else None
    return T.StructField(each.name, column_type(each.schema), each.schema.optional, metadata)


def _of_schemaless(
    frame: RecordFrame, name: str, settings: ColumnSettings, known: T.StructType | None
) -> list[T.StructType]:
    """:param name: column of the frame with the values."""
    match settings.schemaless:
        case "json" | "variant":
            type_ = T.StringType() if settings.schemaless == JSON else T.VariantType()
            return [T.StructType([T.StructField(settings.value, type_)])]
        case "columns" if known is None or EVOLVE in settings.evolution.values():
            return [inferred_columns(frame, name, known, settings.value, settings.fold)]
        case "columns" if known is not None:
            return [known]
    return []


def _of_key(shape: Shape, settings: ColumnSettings) -> T.StructType:
    if settings.key is None or shape.schema is None:
        return T.StructType()
    return _columns(key_members_of(shape.schema, settings.key))


def _columns(schema: ConnectSchema) -> T.StructType:
    type_ = column_type(schema)
    assert isinstance(type_, T.StructType)
    return type_


def _united(parts: Sequence[T.StructType], settings: ColumnSettings) -> T.StructType:
    united: T.DataType = parts[0] if parts else T.StructType()
    for part in parts[1:]:
        united = merged("", united, part, common, settings.fold)
    assert isinstance(united, T.StructType)
    return united


def _with_types(keys: T.StructType, united: T.StructType, settings: ColumnSettings) -> list[T.StructField]:
    """The columns of keys, with types that hold the values' fields of that name too."""
    others = {settings.fold(each.name): each for each in united.fields}
    columns = []
    for each in keys.fields:
        other = others.get(settings.fold(each.name), each)
        type_ = merged(each.name, each.dataType, other.dataType, common, settings.fold)
        columns.append(T.StructField(each.name, type_, each.nullable, each.metadata or other.metadata))
    return columns


def _metadata(frame: RecordFrame, settings: ColumnSettings) -> T.StructType:
    types = {**METADATA, KEY: key_type(frame)}
    return T.StructType([T.StructField(name, types[part]) for part, name in settings.metadata.items()])


def key_type(frame: RecordFrame) -> T.DataType:
    """Of the column with a record's key: BINARY if all keys are bytes, else text."""
    schemas = [shape.schema for shape in frame.key.shapes]
    are_bytes = bool(schemas) and all(each is not None and spark_type(each) == T.BinaryType() for each in schemas)
    return T.BinaryType() if are_bytes else T.StringType()


def _schemaless(frame: RecordFrame) -> str | None:
    """The frame's column with schemaless values."""
    shapes = zip(frame.value.shapes, frame.value.columns, strict=True)
    return next((name for shape, name in shapes if shape.schemaless), None)
