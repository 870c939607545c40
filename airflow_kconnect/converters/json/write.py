"""Writing JsonConverter's payload: Connect data to JSON text, as Catalyst expressions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.decimals import decimal_bytes
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules, first_problem
from airflow_kconnect.converters.json.values import DAY_MS, NO_TIME, NUMERIC, REQUIRED, string_keys
from airflow_kconnect.converters.types import is_misnamed, logical_name

_REST = 2**31 - 1
_WITH_NULLS = {"ignoreNullFields": "false"}


def write_enveloped(schema: ConnectSchema, column: Column, schema_text: str, rules: Rules) -> Column:
    """BINARY of envelopes; the schema's text is a literal, never rendered per row."""
    payload = F.struct(_to_wire(schema, column, rules).alias("payload"))
    document = F.to_json(payload, _WITH_NULLS).cast("binary")
    return F.concat(F.lit(f'{{"schema":{schema_text},'.encode()), F.substring(document, 2, _REST))


def write_bare(schema: ConnectSchema, column: Column, rules: Rules) -> Column:
    """BINARY of payloads without envelope."""
    wire = _to_wire(schema, column, rules)
    is_scalar = schema.type.is_primitive
    text = F.to_json(wire.cast("variant")) if is_scalar else F.to_json(wire, _WITH_NULLS)
    return F.coalesce(text, F.lit("null")).cast("binary")


def write_schemaless(column: Column, *, with_envelope: bool) -> Column:
    """BINARY of the JSON text of VARIANT values; no value at all is a tombstone, even with an envelope."""
    text = F.to_json(column).cast("binary")
    if with_envelope:
        text = F.concat(F.lit(b'{"schema":null,"payload":'), text, F.lit(b"}"))
    return F.when(~F.is_variant_null(column), text)


def write_problem(schema: ConnectSchema, column: Column, rules: Rules) -> Column | None:
    """Why a value cannot be written: a null where it is not allowed, or a type that does not match its name."""

    def check(of: ConnectSchema, value: Column) -> Column | None:
        missing = None if rules.allows_null(of) else F.when(value.isNull(), REQUIRED)
        if is_misnamed(of):
            wrong = F.when(value.isNotNull(), f"Invalid type for {of.name}: {of.type.name}")
        elif logical_name(of) == TIME:
            wrong = F.when(~value.between(0, DAY_MS - 1), NO_TIME)
        else:
            return missing
        return wrong if missing is None else F.coalesce(missing, wrong)

    return first_problem(schema, column, check)


def _to_wire(schema: ConnectSchema, column: Column, rules: Rules) -> Column:
    """The column that Spark's to_json writes as Connect would write the given one."""
    column = or_default(schema, column, rules)
    match logical_name(schema):
        case name if name == DECIMAL:
            return column if rules.decimal_format == NUMERIC else decimal_bytes(column)
        case name if name == DATE:
            return F.unix_date(column)
        case name if name == TIMESTAMP:
            return F.unix_millis(column)
        case _:
            return _nested_to_wire(schema, column, rules)


def _nested_to_wire(schema: ConnectSchema, column: Column, rules: Rules) -> Column:
    if not _differs(schema, rules):
        return column
    match schema.type:
        case SchemaType.STRUCT:
            members = [_to_wire(f.schema, column.getField(f.name), rules).alias(f.name) for f in schema.fields]
            return F.when(column.isNotNull(), F.struct(*members))
        case SchemaType.ARRAY if schema.value_schema is not None:
            items = schema.value_schema
            return F.transform(column, lambda item: _to_wire(items, item, rules))
        case SchemaType.MAP if schema.value_schema is not None:
            return _map_to_wire(schema, schema.value_schema, column, rules)
        case _:
            return column


def _map_to_wire(schema: ConnectSchema, values: ConnectSchema, column: Column, rules: Rules) -> Column:
    if string_keys(schema) or schema.key_schema is None:
        return F.transform_values(column, lambda _, value: _to_wire(values, value, rules))
    keys = schema.key_schema

    def pair(entry: Column) -> Column:
        key, value = _to_wire(keys, entry["key"], rules), _to_wire(values, entry["value"], rules)
        return F.array(_variant(keys, key), _variant(values, value))

    return F.transform(F.map_entries(column), pair)


def _variant(schema: ConnectSchema, column: Column) -> Column:
    return column.cast("variant") if schema.type.is_primitive else F.to_variant_object(column)


def _differs(schema: ConnectSchema, rules: Rules) -> bool:
    """Whether Spark's to_json alone would write something other than Connect."""
    children = [f.schema for f in schema.fields] + [s for s in (schema.value_schema,) if s is not None]
    return (
        logical_name(schema) in (DATE, TIMESTAMP)
        or (logical_name(schema) == DECIMAL and rules.decimal_format != NUMERIC)
        or rules.replaces_null(schema)
        or (schema.type is SchemaType.MAP and not string_keys(schema))
        or any(_differs(child, rules) for child in children)
    )
