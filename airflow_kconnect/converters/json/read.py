"""Reading JsonConverter's payload: JSON text to Connect data, as Catalyst expressions."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.decimals import decimal_of_bytes
from airflow_kconnect.converters.json.envelopes import MALFORMED
from airflow_kconnect.converters.json.numbers import has_integers, parsed_json, with_whole_numbers, without_halves
from airflow_kconnect.converters.json.rules import Rules, first_of, first_problem
from airflow_kconnect.converters.json.values import DAY_MS, TIME_RANGE, string_keys, to_json_value
from airflow_kconnect.converters.types import MAX_PRECISION, decimal_scale, logical_name, primitive_type, spark_type
from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.java_text.json_reading import NOT_JSON

_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt", "allowNumericLeadingZeros": "true"}
MALFORMED_JSON = f"{MALFORMED}{NOT_JSON}"
_MISFIT = f"{MALFORMED}it does not fit its schema"
# A plan has an expression for each field that an error may name.
_NAMED_MAX = 300
# Beyond this Spark's microseconds overflow.
_LAST_MS = (2**63 - 1) // 1000
_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
# As Jackson reads it; Spark also skips blanks and line ends within its groups of four.
_BASE64 = r"^\s*(?:[A-Za-z0-9+/]{4}\s*)*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\s*$"


def parse(schema: ConnectSchema | None, text: Column) -> Column:
    """Parse BINARY payload texts: STRUCT of ``payload``, a list of one value, and ``corrupt``, null if there is no
    error.

    The list around the payload makes anything that is more than one JSON value malformed.
    """
    document = _wrapped(text)
    if schema is None:
        document = without_halves(with_doubles(document))
    return F.from_json(document, _wrapper(schema), _OPTIONS)


def parse_again(schema: ConnectSchema | None, text: Column, parsed: Column) -> Column:
    """What `parse` returned, or if that did not fit the schema: the same with 1.0 and 1e2 as the integers they are."""
    if not has_integers(schema):
        return parsed
    again = F.from_json(with_whole_numbers(_wrapped(text)), _wrapper(schema), _OPTIONS)
    return F.when(parsed["corrupt"].isNotNull(), F.coalesce(again, parsed)).otherwise(parsed)


def _wrapped(text: Column) -> Column:
    return _document(b'{"payload":[', text, b"]}")


def _wrapper(schema: ConnectSchema | None) -> spark.StructType:
    payload = spark.StructField("payload", spark.ArrayType(_wire_type(schema)))
    return spark.StructType([payload, spark.StructField("corrupt", spark.StringType())])


def with_doubles(text: Column) -> Column:
    """JSON text whose numbers with a decimal point have an exponent, too: as DOUBLE they keep the value Connect gives
    them.

    As decimals they would lose trailing zeros: 1.0 would be written as 1. Zero is never negative, as in BigDecimal.
    """
    string = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
    exact = F.regexp_replace(text, rf'\G((?:[^".]++|{string}|\.\d++[eE])*+\.\d++)', "$1e0")
    negative = rf'\G((?:[^"-]++|{string}|-(?!0\.0++[eE]))*+)-'
    return (
        F.when(~F.contains(text, F.lit(".")), text)
        .when(F.contains(text, F.lit("-0.0")), F.regexp_replace(exact, negative, "$1"))
        .otherwise(exact)
    )


def _document(before: bytes, text: Column, after: bytes) -> Column:
    """JSON text around BINARY texts; what is not UTF-8 is not JSON either."""
    document = F.concat(F.lit(before), text, F.lit(after)).cast("string")
    return F.when(F.is_valid_utf8(document) | document.isNull(), document).otherwise("not UTF-8")


def list_of(text: Column) -> Column:
    """The text as the only member of a VARIANT array: the first step of `parse_strings`."""
    return parsed_json(_list_document(text))


def parse_strings(schema: ConnectSchema, text: Column, list_: Column) -> Column:
    """Like `parse`, for schemas `of_strings`, with expressions that whole-stage code generation supports.

    from_json would disable it for all rows, even those that need no parsing, and takes longer (measured for 1 M
    messages: strings 1.0 instead of 2.3 CPU seconds, structs of two strings 2.0 instead of 2.9).

    :param list_: `list_of` the text.
    """
    payload = F.try_variant_get(list_, "$", spark.ArrayType(_wire_type(schema)).simpleString()).alias("payload")
    corrupt = F.when(list_.isNull(), _list_document(text)).alias("corrupt")
    return F.when(text.isNotNull(), F.struct(payload, corrupt))


def _list_document(text: Column) -> Column:
    return _document(b"[", text, b"]")


def read_struct(schema: ConnectSchema, parsed: Column, rules: Rules) -> Column:
    """Connect data of a struct that `StructParser` has read."""
    return _from_wire(schema, parsed, replace(rules, in_batch=True))


def struct_problem(schema: ConnectSchema, parsed: Column, rules: Rules) -> Column:
    """Why a struct that `StructParser` has read is not data of the schema; null if it is."""
    rules = replace(rules, in_batch=True)
    problem = first_problem(schema, parsed, lambda of, item: _problem(of, item, rules))
    return F.lit(None).cast("string") if problem is None else problem


def of_strings(schema: ConnectSchema | None) -> bool:
    """Whether data hold strings only: VARIANT's casts accept numbers that from_json rejects, and round them."""
    if schema is None or not schema.fields:
        return schema is not None and schema.type is SchemaType.STRING
    return all(member.schema.type is SchemaType.STRING and _is_word(member.name) for member in schema.fields)


def _is_word(name: str) -> bool:
    """Whether the name can be used unquoted in the text of a type."""
    return name.isidentifier() and name.isascii()


def read_value(schema: ConnectSchema | None, parsed: Column, rules: Rules) -> Column:
    """Connect data of a parsed payload; null if there is none or if it has a problem."""
    value = F.get(parsed["payload"], F.lit(0))
    if schema is None:
        return F.when(~F.is_variant_null(value), value)
    data = _from_wire(schema, value, rules)
    return F.when(parsed.isNotNull(), data) if rules.replaces_null(schema) else data


def read_problem(schema: ConnectSchema | None, parsed: Column, rules: Rules) -> Column:
    """Why a parsed payload is not data of the schema; null if it is, or if there is none."""
    size = F.coalesce(F.size(parsed["payload"]), F.lit(0))
    value = F.get(parsed["payload"], F.lit(0))
    malformed = F.when(parsed["corrupt"].isNotNull() | (size != 1), _malformed(schema, parsed["corrupt"], value))
    inner = None
    if schema is not None:
        inner = first_problem(schema, value, lambda of, item: _problem(of, item, rules))
    return F.when(parsed.isNotNull(), malformed if inner is None else F.coalesce(malformed, inner))


def _malformed(schema: ConnectSchema | None, corrupt: Column, value: Column) -> Column:
    """What is wrong with a text that was not read, or not all of it: what Spark could read is there."""
    text = F.lit(_MISFIT)
    if schema is not None and schema.type is SchemaType.STRUCT and 0 < len(schema.fields) <= _NAMED_MAX:
        members = F.get(F.from_json(corrupt, "payload array<map<string,string>>", _OPTIONS)["payload"], F.lit(0))
        unread = [
            F.when(value.getField(f.name).isNull() & members[f.name].isNotNull(), F.lit(f.name)) for f in schema.fields
        ]
        names = F.array_join(F.array(*unread), ", ")
        text = F.when(names != "", F.concat(text, F.lit(", see "), names)).otherwise(text)
    return F.when(parsed_json(corrupt).isNotNull(), text).otherwise(MALFORMED_JSON)


def or_default(schema: ConnectSchema, column: Column, rules: Rules) -> Column:
    """The column with nulls replaced by the schema's default, if it has one and the rules say so."""
    if not rules.replaces_null(schema):
        return column
    if schema.type.is_primitive:
        return F.coalesce(column, F.lit(schema.default).cast(spark_type(schema)))
    text = F.lit(canonical_json(to_json_value(schema, schema.default)).encode())
    return F.coalesce(column, read_value(replace(schema, default=None), parse(schema, text), rules))


def _wire_type(schema: ConnectSchema | None) -> spark.DataType:
    """The type in which from_json reads what JsonConverter wrote for a schema."""
    if schema is None or logical_name(schema) == DECIMAL:
        # A Decimal is a base64 string or a number: only VARIANT can distinguish them.
        return spark.VariantType()
    match schema.type:
        case SchemaType.STRUCT:
            return spark.StructType([spark.StructField(f.name, _wire_type(f.schema)) for f in schema.fields])
        case SchemaType.ARRAY:
            return spark.ArrayType(_wire_type(schema.value_schema))
        case SchemaType.MAP if string_keys(schema):
            return spark.MapType(spark.StringType(), _wire_type(schema.value_schema))
        case SchemaType.MAP:
            return spark.ArrayType(spark.ArrayType(spark.VariantType()))
        case primitive:
            return primitive_type(primitive)


def _from_wire(schema: ConnectSchema, value: Column, rules: Rules) -> Column:
    match logical_name(schema):
        case name if name == DECIMAL:
            read = value if rules.in_batch else _decimal(schema, value)
        case name if name == DATE:
            read = F.date_from_unix_date(value)
        case name if name == TIMESTAMP:
            read = F.when(value.between(-_LAST_MS, _LAST_MS), F.timestamp_millis(value))
        case None if schema.type in _FLOATS and not rules.in_batch:
            # Jackson reads numbers as BigDecimal, which has no negative zero; here 0.0 - 0.0 is 0.0.
            read = value + F.lit(0.0).cast(primitive_type(schema.type))
        case _:
            read = _nested_from_wire(schema, value, rules)
    return or_default(schema, read, rules)


def _nested_from_wire(schema: ConnectSchema, value: Column, rules: Rules) -> Column:
    if not _differs(schema, rules):
        return value
    items = schema.value_schema
    match schema.type:
        case SchemaType.STRUCT:
            members = [_from_wire(f.schema, value.getField(f.name), rules).alias(f.name) for f in schema.fields]
            return F.when(value.isNotNull(), F.struct(*members))
        case SchemaType.ARRAY if items is not None:
            return F.transform(value, lambda item: _from_wire(items, item, rules))
        case SchemaType.MAP if items is not None and string_keys(schema):
            return F.transform_values(value, lambda _, item: _from_wire(items, item, rules))
        case SchemaType.MAP:
            return _map_of_pairs(schema, value, rules)
        case _:
            return value


def _map_of_pairs(schema: ConnectSchema, pairs: Column, rules: Rules) -> Column:
    def entry(pair: Column) -> Column:
        key, item = (read_value(of, parsed, rules) for of, parsed in _parse_pair(schema, pair))
        return F.struct(key.alias("key"), item.alias("value"))

    # Spark's maps cannot have null keys: `_pairs_problem` reports them.
    entries = F.filter(F.transform(pairs, entry), lambda pair: pair["key"].isNotNull())
    return F.map_from_entries(entries)


def _parse_pair(schema: ConnectSchema, pair: Column) -> list[tuple[ConnectSchema | None, Column]]:
    """Key and value of a map with non-string keys are parsed separately, as texts."""
    parts = ((schema.key_schema, 0), (schema.value_schema, 1))
    texts = [(of, F.to_json(F.get(pair, F.lit(at)))) for of, at in parts]
    return [
        (of, parse(of, (with_whole_numbers(text) if has_integers(of) else text).cast("binary"))) for of, text in texts
    ]


def _decimal(schema: ConnectSchema, value: Column) -> Column:
    scale = decimal_scale(schema)
    kind = F.schema_of_variant(value)
    text = F.try_variant_get(value, "$", "string")
    unscaled = F.when(text.rlike(_BASE64), F.try_to_binary(text, F.lit("base64")))
    number = F.try_variant_get(value, "$", f"decimal(38,{scale})")
    # A number with more digits than the scale is rejected, not rounded.
    exact = number.cast("double") == F.try_variant_get(value, "$", "double")
    is_number = kind.rlike("^(BIGINT|DECIMAL|DOUBLE)")
    return F.when(kind == "STRING", decimal_of_bytes(unscaled, scale)).when(is_number & exact, number)


def _wrong_decimal(schema: ConnectSchema, value: Column) -> Column:
    kind, text = F.schema_of_variant(value), F.try_variant_get(value, "$", "string")
    digits = f"Decimal has more than {MAX_PRECISION} digits"
    too_exact = f"Decimal has more than {MAX_PRECISION} digits, or more of them after the point than its scale"
    is_number = kind.rlike("^(BIGINT|DECIMAL|DOUBLE)")
    is_text = (kind == "STRING") & text.rlike(_BASE64) & (F.trim(text) != "")
    return (
        F.when(is_number, f"{too_exact} of {decimal_scale(schema)}")
        .when(is_text, digits)
        .otherwise("Invalid bytes for Decimal field")
    )


def _differs(schema: ConnectSchema, rules: Rules) -> bool:
    """Whether Connect's data differ from what from_json returned."""
    children = [f.schema for f in schema.fields] + [s for s in (schema.value_schema,) if s is not None]
    return (
        logical_name(schema) in (DATE, DECIMAL, TIMESTAMP)
        or (schema.type in _FLOATS and not rules.in_batch)
        or rules.replaces_null(schema)
        or (schema.type is SchemaType.MAP and not string_keys(schema))
        or any(_differs(child, rules) for child in children)
    )


def _problem(schema: ConnectSchema, value: Column, rules: Rules) -> Column | None:
    """Why a parsed value itself, without what it contains, is not data of the schema."""
    is_null, wrong = value.isNull(), None
    match logical_name(schema):
        case name if name == DECIMAL and not rules.in_batch:
            is_null = is_null | F.is_variant_null(value)
            wrong = F.when(~is_null & _decimal(schema, value).isNull(), _wrong_decimal(schema, value))
        case name if name == TIME:
            wrong = F.when(~value.between(0, DAY_MS - 1), TIME_RANGE)
        case name if name == TIMESTAMP:
            wrong = F.when(~value.between(-_LAST_MS, _LAST_MS), "Timestamp is out of range")
        case _ if schema.type is SchemaType.MAP and not string_keys(schema):
            wrong = _pairs_problem(schema, value, rules)
    missing = F.when(is_null, f"Invalid null value for required {schema.type.name} field")
    problems = [text for text in (wrong, None if rules.allows_null(schema) else missing) if text is not None]
    return F.coalesce(*problems) if problems else None


def _pairs_problem(schema: ConnectSchema, pairs: Column, rules: Rules) -> Column:
    def problem(pair: Column) -> Column:
        key, value = _parse_pair(schema, pair)
        no_key = F.when(read_value(*key, rules).isNull(), "Found null as a key of a map: maps in Spark have none")
        no_pair = F.when(F.size(pair) != 2, "Found a map entry that is not a pair")
        return F.coalesce(no_pair, read_problem(*key, rules), read_problem(*value, rules), no_key)

    return first_of(F.transform(pairs, problem))
