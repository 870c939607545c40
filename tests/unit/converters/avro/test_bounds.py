"""Values that follow each other are found where fastavro has written them."""

from __future__ import annotations

import io
from itertools import accumulate
from typing import Any

import fastavro
import pytest

from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.avro.payloads.bounds import ends_of
from airflow_kconnect.converters.avro.payloads.plans import Raw
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.avro.corpus import CASES


def encoded(schema: Any, values: list[Any]) -> list[bytes]:
    """Each value in bytes."""
    parsed, found = fastavro.parse_schema(schema), []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, value)
        found.append(out.getvalue())
    return found


def check(registered: RegisteredSchema, schema: Any, values: list[Any]) -> None:
    plan = AvroFormat({}).decoder(registered, b"").plan
    if isinstance(plan, Raw):
        return
    each = encoded(schema, values)
    assert ends_of(plan, b"".join(each), len(each)) == list(accumulate(map(len, each)))


@pytest.mark.parametrize("name", CASES)
def test_values_of_all_kinds_end_where_the_next_begins(name: str) -> None:
    case = CASES[name]
    check(case.registered, case.schema, case.written)
