"""The configuration of the JDBC source: what is refused, what is only warned of."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest

from airflow_kconnect.connectors.jdbc.source.columns import Granularity
from airflow_kconnect.connectors.jdbc.source.config import columns_for
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source_connector import AivenJdbcSource, ConfluentJdbcSource
from airflow_kconnect.runs.warnings import Kind, kind_of
from airflow_kconnect.validation.connector import validate_connector

_VALID = {"connection.url": "jdbc:postgresql://host/db", "mode": "incrementing", "topic.prefix": "db-"}


def _messages(**more: str) -> dict[str, list[str]]:
    props = {**_VALID, **{key.replace("_", "."): text for key, text in more.items()}}
    errors = {value.name: value.errors for value in ConfluentJdbcSource.config().validate(props) if value.errors}
    return {**errors, **ConfluentJdbcSource.validate(props)}


def test_a_plain_configuration_is_valid() -> None:
    assert _messages() == {}


@pytest.mark.parametrize(
    ("more", "chosen"),
    [
        ({"numeric_mapping": "BEST_FIT"}, lambda settings: settings.numeric_mapping == "best_fit"),
        ({"timestamp_granularity": "NANOS_LONG"}, lambda settings: settings.granularity == Granularity(9, "long")),
        ({"transaction_isolation_mode": "serializable"}, lambda settings: settings.isolation == "SERIALIZABLE"),
        ({"db_timezone": "JST"}, lambda settings: settings.zone == ZoneInfo("Asia/Tokyo")),
        ({"db_timezone": "PST"}, lambda settings: settings.zone == ZoneInfo("America/Los_Angeles")),
    ],
)
def test_values_may_be_written_as_confluent_takes_them(
    more: dict[str, str], chosen: Callable[[SourceSettings], bool]
) -> None:
    assert _messages(**more) == {}
    props = {**_VALID, **{key.replace("_", "."): text for key, text in more.items()}}
    values = ConfluentJdbcSource.config().parse(props)
    assert chosen(SourceSettings.of(props, values, "timestamp.initial", frozenset(values)))


@pytest.mark.parametrize(
    ("more", "key", "text"),
    [
        ({"mode": "increment"}, "mode", "String must be one of: bulk, incrementing, timestamp"),
        ({"mode": "timestamp"}, "timestamp.column.name", "is needed with `mode=timestamp`"),
        ({"query": "select 1", "table_whitelist": "t"}, "table.whitelist", "cannot be set together with `query`"),
        ({"query": "select 1", "query_masked": "select 2"}, "query", "only one of"),
        ({"query": "select 1"}, "incrementing.column.name", "is needed with a query"),
        ({"query": "select 1", "topic_prefix": ""}, "topic.prefix", "it is the topic of the records"),
        ({"mode": "bulk", "kconnect_max_records": "5"}, "kconnect.max.records", "no offset at which the next run"),
        ({"mode": "bulk", "kconnect_max_duration_ms": "5"}, "kconnect.max.duration.ms", "the same first rows"),
        ({"query_suffix": "limit 5"}, "query.suffix", "which it would break"),
        ({"table_whitelist": "a", "table_blacklist": "b"}, "table.blacklist", "cannot be set together"),
        ({"topic_prefix": "a b"}, "topic.prefix", "may only have letters"),
        ({"db_timezone": "Mars/Olympus"}, "db.timezone", "is not a time zone"),
        ({"timestamp_columns_mapping": "nix"}, "timestamp.columns.mapping", "is not <regular expression>:<column>"),
        ({"table_include_list": "("}, "table.include.list", "regex"),
        ({"split_rows": "0"}, "split.rows", "at least 1"),
        ({"connection_url": "jdbc:postgresql://h/d?socketFactory=x"}, "connection.url", "load code"),
        ({"connection_socketFactory": "x"}, "connection.socketFactory", "it can load code"),
        ({"connection_url": "jdbc:oracle:thin:@h:1/d"}, "kconnect.jdbc.driver.class", "is needed for jdbc:oracle"),
    ],
)
def test_what_cannot_work_is_an_error_of_its_key(more: dict[str, str], key: str, text: str) -> None:
    assert text.lower() in " ".join(_messages(**more)[key]).lower()


def test_all_errors_are_reported_at_once() -> None:
    messages = _messages(mode="timestamp", query_suffix="x", topic_prefix="a b", split_rows="-1")
    assert set(messages) == {"timestamp.column.name", "query.suffix", "topic.prefix", "split.rows"}


def test_keys_that_mean_nothing_here_are_warned_of_with_the_reason() -> None:
    props = {**_VALID, "poll.interval.ms": "10", "batch.max.rows": "5", "quote.sql.identifiers": "never"}
    warnings = validate_connector({**props, "name": "n", "connector.class": "JdbcSource"}).warnings
    assert [text.split("`")[1] for text in warnings] == ["poll.interval.ms", "batch.max.rows", "quote.sql.identifiers"]
    assert "Airflow's schedule" in warnings[0]


def test_a_value_that_asks_for_the_only_behaviour_causes_no_warning() -> None:
    props = {**_VALID, "quote.sql.identifiers": "ALWAYS", "name": "n", "connector.class": "JdbcSource"}
    assert validate_connector(props).warnings == []


_ORACLE = {"connection.url": "jdbc:oracle:thin:@//h:1/d"}
_DELAY = {"timestamp.delay.interval.ms": "5000"}


@pytest.mark.parametrize(
    ("mode", "more", "count"),
    [
        ("incrementing", {}, 1),
        ("incrementing", _DELAY, 1),
        ("timestamp", {}, 1),
        ("timestamp", {"timestamp.delay.interval.ms": "0"}, 1),
        ("timestamp", _DELAY, 0),
        ("bulk", {}, 0),
        ("incrementing", {"late.commits": "ignore"}, 0),
        ("incrementing", {"connection.url": "jdbc:mariadb://h/d"}, 0),
    ],
)
def test_late_commits_are_warned_of_where_open_transactions_do_not_show(
    mode: str, more: dict[str, str], count: int
) -> None:
    warnings = ConfluentJdbcSource.warnings({**_VALID, **_ORACLE, "mode": mode, **more})
    assert [kind_of(warning) for warning in warnings] == [Kind.LOST] * count


def test_a_database_that_only_the_job_will_know_is_not_warned_of() -> None:
    assert ConfluentJdbcSource.warnings({**_VALID, "connection.url": "${airflow:shop:jdbc_url}"}) == []


def test_both_makers_have_their_own_keys_and_defaults() -> None:
    confluent, aiven = ConfluentJdbcSource.config().keys, AivenJdbcSource.config().keys
    assert (confluent["timestamp.initial"].default, aiven["timestamp.initial.ms"].default) == (None, 0)
    assert "quote.sql.identifiers" in confluent and "sql.quote.identifiers" in aiven


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (["public\\..*:id"], ["id"]),
        (["other:id", ".*orders:[changed|made]"], ["changed", "made"]),
        (["orders:id"], None),
        ([], None),
    ],
)
def test_first_mapping_that_matches_the_whole_name_counts(mapping: list[str], expected: list[str] | None) -> None:
    assert columns_for("public.orders", mapping) == expected
