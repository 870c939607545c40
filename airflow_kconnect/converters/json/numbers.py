"""JSON as JsonConverter reads it where parsers differ: 007, 1.0 or 1e2 for an integer, and halves of characters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.java_text.json_reading import AT_START, STRING

if TYPE_CHECKING:
    from pyspark.sql import Column

_ZEROS = rf"({STRING})|{AT_START}0+(?=\d)"
_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
# An escaped half of a surrogate pair without the other one, in a text without escaped backslashes.
_HALF = (
    r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F][0-9a-fA-F]{2})"
)
_REFUSES_HALVES = (4, 3)
"""The first version of Spark whose parser does. Others make a question mark of a half."""


def parsed_json(text: Column) -> Column:
    """JSON text as VARIANT, null if it is not JSON or has half of a character; numbers may begin with zeros."""
    from pyspark.sql import functions as F

    text = without_halves(text)
    # The second is only evaluated where the first is null.
    return F.coalesce(F.try_parse_json(text), F.try_parse_json(F.regexp_replace(text, _ZEROS, "$1")))


def without_halves(text: Column) -> Column:
    """JSON text; what is not JSON in place of one with half of a character."""
    from pyspark.sql import functions as F

    return text if _version() >= _REFUSES_HALVES else F.when(_has_half(text), "half").otherwise(text)


@cache
def _version() -> tuple[int, ...]:
    """Of the Spark of this process."""
    from pyspark import SparkContext

    return tuple(map(int, SparkContext.getOrCreate().version.split(".")[:2]))


def _has_half(text: Column) -> Column:
    from pyspark.sql import functions as F

    may_have = F.contains(text, F.lit(r"\ud")) | F.contains(text, F.lit(r"\uD"))
    return may_have & F.replace(text, F.lit("\\\\"), F.lit("__")).rlike(_HALF)


def with_whole_numbers(text: Column) -> Column:
    """JSON text whose numbers have no needless fraction or exponent; null if it is not JSON.

    VARIANT prints 1.0, a decimal, as 1, and 1e2, a double, as 100.0.
    """
    from pyspark.sql import functions as F

    return F.to_json(F.try_parse_json(F.to_json(parsed_json(text))))


def has_integers(schema: ConnectSchema | None) -> bool:
    """Whether data of a schema hold integers, or what travels as one."""
    if schema is None:
        return False
    inner = [member.schema for member in schema.fields] + [schema.key_schema, schema.value_schema]
    return schema.type in _INTEGERS or any(map(has_integers, inner))
