"""SparkTableSink: rules between the keys about keys of rows, and about deletions."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.config import settings_of, table_keys
from airflow_kconnect.connectors.table.rules import rule_errors

BASE = {"table.format": "iceberg", "table.name.format": "lake.t"}
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key"}


@pytest.mark.parametrize(
    "keys",
    [
        {**UPSERT},
        {**UPSERT, "delete.enabled": "true"},
        {
            **UPSERT,
            "pk.mode": "record_value",
            "pk.fields": "id",
            "delete.enabled": "true",
            "table.cdc.field": "_cdc.op",
        },
        {"insert.mode": "upsert", "pk.mode": "kafka"},
    ],
)
def test_rows_have_keys(keys: dict[str, str]) -> None:
    assert rule_errors(table_keys(), BASE | keys) == {}


@pytest.mark.parametrize(
    ("keys", "wrong", "text"),
    [
        ({"delete.enabled": "true", "pk.mode": "record_key"}, "delete.enabled", "needs `insert.mode` upsert"),
        ({"insert.mode": "upsert", "pk.mode": "kafka", "delete.enabled": "true"}, "delete.enabled", "record_value"),
        ({**UPSERT, "pk.mode": "record_value"}, "pk.fields", "name the fields"),
        ({**UPSERT, "table.cdc.field": "op"}, "table.cdc.field", "no effect without `delete.enabled`"),
    ],
)
def test_what_does_not_fit_together(keys: dict[str, str], wrong: str, text: str) -> None:
    found = rule_errors(table_keys(), BASE | keys)
    assert list(found) == [wrong]
    assert text in found[wrong][0]


def test_the_field_that_says_what_has_happened() -> None:
    props = {**BASE, **UPSERT, "name": "sink", "delete.enabled": "true", "table.cdc.field": "_cdc.op"}
    settings = settings_of("sink", table_keys().parse(props), props)
    assert (settings.deletes, settings.cdc_field) == (True, "_cdc.op")
