"""ExtractNewRecordState: its configuration."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.debezium.events import Reference
from airflow_kconnect.transforms.debezium.extract_new_record_state import ExtractNewRecordState

MODE = "delete.tombstone.handling.mode"


def test_has_the_defaults_of_debezium() -> None:
    assert ExtractNewRecordState({}).config_values == {
        MODE: "tombstone",
        "route.by.field": "",
        "add.fields.prefix": "__",
        "add.fields": [],
        "add.headers.prefix": "__",
        "add.headers": [],
        "replace.null.with.default": True,
    }


@pytest.mark.parametrize("mode", ["drop", "Rewrite", "rewrite-with-tombstone", "delete-to-tombstone"])
def test_knows_the_modes_of_debezium_in_any_case(mode: str) -> None:
    assert ExtractNewRecordState({MODE: mode})


def test_refuses_other_modes() -> None:
    with pytest.raises(ConfigError) as caught:
        ExtractNewRecordState({MODE: "none"})
    assert caught.value.errors.keys() == {MODE}


@pytest.mark.parametrize(
    ("config", "key", "text"),
    [
        ({"drop.tombstones": "false"}, "drop.tombstones", MODE),
        ({"delete.handling.mode": "rewrite"}, "delete.handling.mode", MODE),
        ({"drop.fields.header.name": "h"}, "drop.fields.header.name", "Not supported"),
        ({"add.fields": "op,a:b:c"}, "add.fields", "Unexpected field name: a:b:c"),
        ({"add.headers": "a:b:c"}, "add.headers", "Unexpected field name: a:b:c"),
    ],
)
def test_keys_that_would_be_misunderstood_are_errors(config: dict[str, str], key: str, text: str) -> None:
    (message,) = ExtractNewRecordState.validate(config)[key]
    assert text in message


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("op", Reference(None, "op", "__op")),
        ("ts_ms", Reference(None, "ts_ms", "__ts_ms")),
        (" table", Reference("source", "table", "__table")),
        ("source.ts_ms", Reference("source", "ts_ms", "__source_ts_ms")),
        ("id", Reference("transaction", "id", "__id")),
        ("source.lsn:LSN", Reference("source", "lsn", "__LSN")),
        ("op:", Reference(None, "op", "__op")),
    ],
)
def test_names_of_facts_say_where_they_are(text: str, reference: Reference) -> None:
    assert Reference.parse(text, "__") == reference


def test_reads_headers_only_to_add_to_them() -> None:
    assert ExtractNewRecordState({}).needs == set()
    assert ExtractNewRecordState({"add.headers": "op"}).needs == {"headers"}
