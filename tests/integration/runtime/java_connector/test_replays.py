"""Intervals of time that are moved again through a Java sink: exactly which records it is given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.kafka.groups import GroupAdmin
from tests.support import unique

pytestmark = pytest.mark.usefixtures("one_jvm")

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]

# An hour of today, so that brokers keep the records, which are some minutes before or after its begin.
_MINUTE = 60_000
_BEGIN = int(time.time() * 1000) - 180 * _MINUTE
_REPLAY = Replay(_BEGIN, _BEGIN + 60 * _MINUTE, "today")


def _produce(
    bootstrap: str, topic: str, partition: int, minutes: Iterable[int], *, transaction: str | None = None
) -> None:
    """Records whose values say when they are from; in a transaction, if it is named `commit` or `abort`."""
    settings = {"bootstrap.servers": bootstrap, "linger.ms": 1}
    if transaction:
        settings["transactional.id"] = unique("t")
    producer = Producer(settings)
    if transaction:
        producer.init_transactions(30)
        producer.begin_transaction()
    for minute in minutes:
        timestamp = _BEGIN + minute * _MINUTE
        producer.produce(topic, f"{partition}:{minute}", partition=partition, timestamp=timestamp)
    assert producer.flush(30) == 0
    if transaction:
        (producer.commit_transaction if transaction == "commit" else producer.abort_transaction)(30)


@pytest.fixture
def admin(bootstrap: str) -> GroupAdmin:
    """Reads and alters offsets of groups."""
    return GroupAdmin({"bootstrap.servers": bootstrap})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """What the sink has written."""
    return tmp_path / "out.txt"


def test_a_sink_is_given_the_records_of_the_interval_and_no_others(
    bootstrap: str, topic: Callable[..., str], java_sink: Config, run_hosted: Run, out: Path, admin: GroupAdmin
) -> None:
    name = topic(partitions=4)
    # Times go back within the interval.
    _produce(bootstrap, name, 0, [-20, -10, 5, -3, 59, 60, 61, 30])
    # The interval ends with markers of transactions, and with records that were never committed.
    _produce(bootstrap, name, 1, [-1])
    _produce(bootstrap, name, 1, [10, 20], transaction="commit")
    _produce(bootstrap, name, 1, [30], transaction="abort")
    # An earlier attempt has come to the middle of the third; nothing of the fourth is in the interval.
    _produce(bootstrap, name, 2, [1, 2, 3, 70])
    _produce(bootstrap, name, 3, [90, 91])
    config = java_sink(name, tasks_max="2", kconnect_max_records="1") | {
        "consumer.override.group.id": f"own-{name}",
        "transforms": "marked",
        "transforms.marked.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.marked.regex": "(.*)",
        "transforms.marked.replacement": "$1-elsewhere",
    }
    live = {TopicPartition(name, 0): 7}
    admin.alter_group_offsets(f"own-{name}", live)
    group = f"own-{name}.replay.today"
    admin.alter_group_offsets(group, {TopicPartition(name, 2): 1})
    worker = {"consumer.isolation.level": "read_committed"}

    report = run_hosted(config, interval=_REPLAY, **worker)

    expected = ["0:-3", "0:5", "0:59", "1:10", "1:20", "2:2", "2:3"]
    assert sorted(out.read_text().splitlines()) == expected
    assert (report.complete, report.replay, report.lag) == (True, str(_REPLAY), {})
    assert (report.records["read"], report.records["written"], report.guarantee) == (7, 7, "at_least_once")
    assert [text for text in report.warnings if "given to the sink again" in text]
    assert admin.committed_offsets(f"own-{name}") == live
    assert not [each for each in admin.topics() if config["name"] in each]

    again = run_hosted(config, interval=_REPLAY, **worker)
    assert (again.complete, again.records["read"], again.notes["already_replayed"]) == (True, 0, True)
    assert sorted(out.read_text().splitlines()) == expected


def test_an_interval_without_records_needs_no_java(
    bootstrap: str, topic: Callable[..., str], java_sink: Config, run_hosted: Run, out: Path
) -> None:
    name = topic()
    _produce(bootstrap, name, 0, [-5, 61])
    report = run_hosted(java_sink(name), interval=_REPLAY, **{"consumer.isolation.level": "read_committed"})
    assert (report.complete, report.records["read"], report.notes["ended"]) == (True, 0, "caught up")
    assert "starting Java" not in report.durations_s
    assert not out.exists()


def test_sources_and_dead_letters_are_refused(java_source: Config, java_sink: Config, run_hosted: Run) -> None:
    with pytest.raises(ConfigError, match="only its class knows what its offsets mean"):
        run_hosted(java_source(), interval=_REPLAY)
    with pytest.raises(ConfigError, match="dead letters cannot be moved again"):
        run_hosted(java_sink("any"), dead_letters=True)


@pytest.mark.exhaustive
def test_a_dry_run_counts_the_offsets_of_the_interval(
    bootstrap: str, topic: Callable[..., str], java_sink: Config, run_hosted: Run, admin: GroupAdmin
) -> None:
    name = topic()
    _produce(bootstrap, name, 0, [-5, 1, 2, 61])
    config = java_sink(name)
    report = run_hosted(config, interval=_REPLAY, dry_run=True)
    assert (report.complete, report.notes["would_read_offsets"]) == (False, 2)
    assert admin.committed_offsets(f"connect-{config['name']}.replay.today") == {}


@pytest.mark.exhaustive
def test_a_sink_that_sets_its_consumers_to_offsets_of_its_own_fails(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, out: Path
) -> None:
    name = topic()
    _produce(bootstrap, name, 0, [-5, 1, 2, 61, 62])
    with pytest.raises(ConfigError, match="set its consumers to offsets of its own"):
        run_rough(rough_sink("begins at 4", name), interval=_REPLAY)
    assert not out.exists()
