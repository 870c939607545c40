"""Numbers that JsonConverter reads and strict parsers do not: 007, and 1.0 or 1e2 for an integer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.java.json_reading import AT_START, STRING

if TYPE_CHECKING:
    from pyspark.sql import Column

_ZEROS = rf"({STRING})|{AT_START}0+(?=\d)"
_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)


def parsed_json(text: Column) -> Column:
    """JSON text as VARIANT, null if it is not JSON; numbers may begin with zeros."""
    from pyspark.sql import functions as F

    # The second is only evaluated where the first is null.
    return F.coalesce(F.try_parse_json(text), F.try_parse_json(F.regexp_replace(text, _ZEROS, "$1")))


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
