"""How far a table was read: what offsets say, and what they must not say."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.table.source.config import BULK, CHANGES, INCREMENTING, SourceSettings
from airflow_kconnect.connectors.table.source.offsets import offset_problems, reached
from airflow_kconnect.connectors.table.source.source import SparkTableSourceConnector

ORDERS = {"table": "lake.shop.orders"}


def settings(mode: str = CHANGES, format_: str = "iceberg") -> SourceSettings:
    return SourceSettings(format_, mode, "orders", "lake.shop.orders", column="id")


@pytest.mark.parametrize(
    ("mode", "format_", "offset"),
    [
        (CHANGES, "iceberg", {"snapshot": 5}),
        (CHANGES, "delta", {"version": 5}),
        (INCREMENTING, "parquet", {"incrementing": 5}),
    ],
)
def test_an_offset_is_a_number_with_the_name_of_what_it_is(mode: str, format_: str, offset: dict[str, Any]) -> None:
    given = settings(mode, format_)
    assert (reached(given, offset), offset_problems(given, ORDERS, offset)) == (5, [])


def test_without_an_offset_nothing_was_read() -> None:
    assert reached(settings(), None) is None


def test_an_offset_of_another_mode_ends_the_run() -> None:
    with pytest.raises(
        DataError, match=r"read up to \{'incrementing': 5\}, and `mode`=changes of iceberg goes by snapshot"
    ):
        reached(settings(), {"incrementing": 5})


@pytest.mark.parametrize(
    ("mode", "partition", "offset"),
    [
        (CHANGES, {"table": "lake.shop.other"}, {"snapshot": 5}),
        (CHANGES, ORDERS, {"version": 5}),
        (CHANGES, ORDERS, {"snapshot": "5"}),
        (CHANGES, ORDERS, {"snapshot": True}),
        (CHANGES, ORDERS, {"snapshot": 5, "more": 1}),
        (BULK, ORDERS, {"snapshot": 5}),
    ],
)
def test_offsets_from_which_no_run_could_start_are_refused(
    mode: str, partition: dict[str, Any], offset: dict[str, Any]
) -> None:
    assert len(offset_problems(settings(mode), partition, offset)) == 1


def test_altered_offsets_are_checked_against_the_configuration() -> None:
    props = {"name": "x", "table.format": "delta", "table.name": "shop.orders", "topic": "orders"}
    with pytest.raises(ConfigError, match=r"expected \{'version': <whole number>\}"):
        SparkTableSourceConnector.alter_offsets(props, [({"table": "shop.orders"}, {"snapshot": 3})])
