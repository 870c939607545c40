"""Structs, arrays and maps on their way into a database: as JSON texts, or member by member."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connectors.jdbc.sink.cells import Cell
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.json.values import NUMERIC
from airflow_kconnect.converters.json.write import write_bare, write_problem


def json_cell(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """The text that JsonConverter writes without schemas, decimals as numbers; null where the value is."""
    rules = Rules(NUMERIC, settings.null_to_default)
    value, schema = or_default(column.schema, value, rules), column.schema.as_optional()
    problem = write_problem(schema, value, rules)
    named = None if problem is None else F.concat(F.lit(f"field `{column.name}`: "), problem)
    return Cell(F.when(value.isNotNull(), write_bare(schema, value, rules).cast("string")), named)


def each_member(
    schema: ConnectSchema, value: Column, settings: SinkSettings, leaf: Callable[[ConnectSchema, Column], Column]
) -> Column:
    """The same value, with what a function makes of the single values in it.

    :param leaf: from a schema that is not nested, and a value, to what the database takes.
    """
    value = or_default(schema, value, Rules(replace_null_with_default=settings.null_to_default))

    def inner(of: ConnectSchema | None, member: Column) -> Column:
        assert of is not None
        return each_member(of, member, settings, leaf)

    match schema.type:
        case SchemaType.STRUCT:
            members = [inner(f.schema, value.getField(f.name)).alias(f.name) for f in schema.fields]
            return F.when(value.isNotNull(), F.struct(*members))
        case SchemaType.ARRAY:
            return F.transform(value, lambda item: inner(schema.value_schema, item))
        case SchemaType.MAP:
            keys = F.transform(F.map_keys(value), lambda key: inner(schema.key_schema, key))
            values = F.transform(F.map_values(value), lambda item: inner(schema.value_schema, item))
            return F.map_from_arrays(keys, values)
    return leaf(schema, value)
