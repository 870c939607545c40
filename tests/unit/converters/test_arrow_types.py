"""Arrow types of columns are those that Spark passes to and from Python."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
from pyspark.sql.pandas.types import to_arrow_type

from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    INT32_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.converters.types import arrow_type, spark_type

_NESTED = {SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT}
_DECIMAL = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "3"})
_MAP = ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=_DECIMAL)


@pytest.mark.parametrize(
    "schema",
    [
        *(ConnectSchema(each) for each in SchemaType if each not in _NESTED),
        ConnectSchema(SchemaType.INT32, name=DATE),
        ConnectSchema(SchemaType.INT32, name=TIME),
        ConnectSchema(SchemaType.INT64, name=TIMESTAMP),
        ConnectSchema(SchemaType.STRING, name=DATE),
        _DECIMAL,
        _MAP,
        ConnectSchema(SchemaType.ARRAY, value_schema=_MAP),
        struct(("a", ConnectSchema(SchemaType.ARRAY, value_schema=_MAP)), ("b", struct(("c", INT32_SCHEMA)))),
        None,
    ],
    ids=str,
)
def test_type_is_that_of_spark(schema: ConnectSchema | None) -> None:
    # Timestamps are in UTC unless newer versions are given a zone, which older ones do not take.
    zone: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
    assert arrow_type(schema).equals(to_arrow_type(spark_type(schema), **zone), check_metadata=True)
