"""Where a hosted sink begins: offsets that expire, `latest`, deleted records, topics that are created again.

The broker has what brokers of production have: a group waits for its members, and offsets of groups expire. It is one
more broker, and each run of Java takes its time; worth it, since the broker of the other tests hides all of this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.runs.warnings import Kind, kind_of
from tests.support import unique
from tests.support.kafka import create_topic, delete_topic, produce
from tests.support.positions import commit

pytestmark = pytest.mark.usefixtures("one_jvm")

Config = Callable[..., dict[str, str]]
MakeTopic = Callable[..., str]
Run = Callable[..., Any]

SETTINGS = {
    "group.initial.rebalance.delay.ms": "6000",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
}
OVERRIDES = {"connector.client.config.override.policy": "All"}
RESET = "consumer.override.auto.offset.reset"


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of this file's broker."""
    embedded = EmbeddedBroker(tmp_path_factory.mktemp("broker"), settings=SETTINGS)
    embedded.start()
    yield embedded.bootstrap
    embedded.stop()


@pytest.fixture(scope="module")
def worker_topics() -> str:
    """Runs create the topics."""
    return "connect-offsets"


@pytest.fixture
def admin(bootstrap: str) -> GroupAdmin:
    return GroupAdmin({"bootstrap.servers": bootstrap})


def lines(config: dict[str, str]) -> list[str]:
    path = Path(config["file"])
    return path.read_text().splitlines() if path.exists() else []


def delete_records(bootstrap: str, topic: str, before: int) -> None:
    """As retention does it."""
    client = AdminClient({"bootstrap.servers": bootstrap})
    for future in client.delete_records([KafkaTopicPartition(topic, 0, before)]).values():
        future.result(30)


def test_a_sink_that_begins_at_the_end_reads_what_comes_between_runs_and_never_again(
    bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run, admin: GroupAdmin
) -> None:
    name = topic()
    config, place = java_sink(name, **{RESET: "latest"}), TopicPartition(name, 0)
    group = f"connect-{config['name']}"
    produce(bootstrap, name, ["before"])
    first = run_hosted(config, **OVERRIDES)
    assert (first.complete, first.notes["ended"], first.offsets[0]["offset"]) == (True, "caught up", 1)
    produce(bootstrap, name, ["a", "b"])
    report = run_hosted(config, **OVERRIDES)
    assert (report.complete, report.records["written"], lines(config), report.warnings) == (True, 2, ["a", "b"], [])
    assert not admin.group_state(group).simple

    assert run_hosted(config, **OVERRIDES).notes["ended"] == "caught up"
    # Consumers have left the group: each offset expires by itself now, counted from the last run.
    assert admin.group_state(group).simple
    assert admin.committed_offsets(group) == {place: 3}

    admin.delete_group(group)  # as if it had expired
    after = run_hosted(config, **OVERRIDES)
    assert (after.complete, after.records["read"], lines(config)) == (True, 0, ["a", "b"])
    assert [text for text in after.warnings if f"group {group} has lost its offsets in {name}" in text]
    assert admin.committed_offsets(group) == {place: 3}


@pytest.mark.exhaustive
def test_offsets_survive_their_retention_as_long_as_runs_come(
    bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run
) -> None:
    name = topic()
    config = java_sink(name)
    produce(bootstrap, name, ["a", "b"])
    reports, deadline = [run_hosted(config)], time.monotonic() + 90
    while time.monotonic() < deadline:
        time.sleep(15)
        reports.append(run_hosted(config))
    assert lines(config) == ["a", "b"]
    assert [text for report in reports for text in report.warnings] == []


class TestPositionsThatDoNotMatch:
    """No Java is started for them."""

    def test_records_that_were_deleted_before_they_were_read_fail_the_run(
        self, bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run
    ) -> None:
        name = topic()
        config = java_sink(name)
        produce(bootstrap, name, map(str, range(8)))
        commit(bootstrap, f"connect-{config['name']}", {(name, 0): 2})
        delete_records(bootstrap, name, 5)
        with pytest.raises(DataError, match=f"{name}-0: offsets 2 to 4 were deleted before they were read"):
            run_hosted(config)
        with pytest.raises(DataError, match="were deleted before they were read"):
            run_hosted(config, dry_run=True)

    def test_they_are_a_warning_if_the_configuration_says_where_to_resume(
        self, bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run
    ) -> None:
        name = topic()
        config = java_sink(name)
        produce(bootstrap, name, map(str, range(8)))
        commit(bootstrap, f"connect-{config['name']}", {(name, 0): 2})
        delete_records(bootstrap, name, 5)
        report = run_hosted(config, **{"consumer.auto.offset.reset": "latest"})
        assert (report.complete, report.offsets[0]["offset"]) == (True, 8)
        [warning] = report.warnings
        assert warning.endswith("offsets 2 to 4 were deleted before they were read; resuming at latest")
        assert kind_of(warning) is Kind.LOST

    def test_an_offset_beyond_the_end_fails_the_run(
        self, bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run
    ) -> None:
        name = topic()
        config = java_sink(name, **{RESET: "earliest"})
        produce(bootstrap, name, ["a"])
        commit(bootstrap, f"connect-{config['name']}", {(name, 0): 1000})
        with pytest.raises(DataError, match=f"{name}-0: offset 1000 is committed, but the partition ends at 1"):
            run_hosted(config, **OVERRIDES)

    def test_a_topic_that_was_created_again_fails_the_run(
        self, bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run
    ) -> None:
        name = topic()
        config = java_sink(name)
        run_hosted(config)
        delete_topic(bootstrap, name)
        create_topic(bootstrap, name)
        produce(bootstrap, name, ["of another topic"])
        with pytest.raises(DataError, match=f"created again since it was read: {name}.*offsets reset"):
            run_hosted(config)


def test_a_dry_run_of_a_sink_creates_nothing_and_commits_nothing(
    bootstrap: str, topic: MakeTopic, java_sink: Config, run_hosted: Run, admin: GroupAdmin
) -> None:
    name = topic()
    config = java_sink(name)
    produce(bootstrap, name, ["a", "b"])
    before = set(admin.topics())
    report = run_hosted(config, dry_run=True, **{"offset.storage.topic": unique("offsets")})
    assert (report.complete, report.incomplete, report.notes["would_read_offsets"]) == (False, ["dry_run"], 2)
    # Brokers create the topic of groups when they are asked for the first.
    assert set(admin.topics()) - before <= {"__consumer_offsets"}
    assert admin.committed_offsets(f"connect-{config['name']}") == {}


@pytest.mark.exhaustive
def test_a_dry_run_of_a_source_creates_nothing(
    numbered: Any, java_source: Config, run_hosted: Run, admin: GroupAdmin
) -> None:
    numbered.append(3)
    before = set(admin.topics())
    report = run_hosted(java_source(), dry_run=True, **{"offset.storage.topic": unique("offsets")})
    assert (report.complete, report.offsets) == (False, [])
    assert set(admin.topics()) - before <= {"__consumer_offsets"}
