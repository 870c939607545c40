"""What configurations of the table source may say."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.source.config import (
    DELETIONS,
    REWRITES,
    forbidden_reading,
    settings_of,
    source_keys,
    source_problems,
)

TABLE = {"table.format": "iceberg", "table.name": "shop.orders", "topic": "orders"}


def test_a_table_by_its_changes_needs_no_more_than_its_name() -> None:
    assert source_problems(TABLE) == {}


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"table.format": "iceberg"}, "table.name"),
        ({**TABLE, "table.path": "/data"}, "table.path"),
        ({**TABLE, "table.format": "parquet"}, "mode"),
        ({**TABLE, "mode": "incrementing"}, "incrementing.column.name"),
        ({"table.format": "iceberg", "table.path": "/data"}, "table.path"),
        ({**TABLE, "kconnect.max.records": "10"}, "kconnect.max.records"),
        ({**TABLE, "table.read.skipChangeCommits": "true"}, "table.read.skipChangeCommits"),
        ({**TABLE, "table.read.streaming-skip-delete-snapshots": "yes"}, "table.read.streaming-skip-delete-snapshots"),
    ],
)
def test_keys_that_do_not_go_together_are_named(given: dict[str, str], key: str) -> None:
    assert key in source_problems(given)


@pytest.mark.parametrize(
    ("given", "skipped"),
    [
        ({"table.format": "delta", "table.read.skipChangeCommits": "true"}, {DELETIONS, REWRITES}),
        ({"table.format": "delta", "table.read.skipChangeCommits": "false"}, set()),
        ({"table.format": "iceberg", "table.read.streaming-skip-delete-snapshots": "true"}, {DELETIONS}),
        ({"table.format": "iceberg", "table.read.streaming-skip-overwrite-snapshots": "TRUE"}, {REWRITES}),
    ],
)
def test_options_of_the_formats_say_which_commits_are_skipped(given: dict[str, str], skipped: set[str]) -> None:
    props = {**TABLE, **given}
    assert source_problems(props) == {}
    assert settings_of(source_keys().parse(props), props).skipped == skipped


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ({"table.format": "parquet", "table.read.mergeSchema": "true"}, []),
        ({"table.format": "csv", "table.read.header": "true"}, []),
        ({"table.format": "parquet", "table.read.fs.s3a.secret.key": "x"}, ["table.read.fs.s3a.secret.key"]),
        ({"table.format": "jdbc"}, ["table.format"]),
    ],
)
def test_a_worker_allows_files_and_how_they_look(given: dict[str, str], keys: list[str]) -> None:
    assert list(forbidden_reading(given, [])) == keys


def test_a_worker_may_allow_other_formats() -> None:
    assert forbidden_reading({"table.format": "jdbc", "table.read.url": "x"}, ["jdbc"]) == {}
