"""The hook with a real broker: offsets, lag, target states, and what they mean for the runs of a connector."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowSkipException

from airflow_kconnect import KafkaConnectHook, KafkaSourceOperator
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.kafka import eventually, produce
from tests.support.positions import commit, commit_source
from tests.support.spark.fake_spark import FakeSpark, printing

MakeTopic = Callable[..., str]

PARTITION = {"filename": "/data/in"}
REPORT = RunReport(connector="lines", kind="source", connector_class="C", run_id="r").as_dict()


@pytest.fixture
def hook(worker_props: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> KafkaConnectHook:
    """The hook of a connection to the broker of this test run."""
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kconnect", "extra": worker_props}))
    return KafkaConnectHook()


@pytest.fixture
def source() -> dict[str, str]:
    """A source that has not run yet."""
    return {"name": unique("lines"), "connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}


@pytest.fixture
def sink(bootstrap: str, topic: MakeTopic) -> dict[str, str]:
    """A sink that has written three of the five records of its topic."""
    name, records = unique("files"), topic()
    produce(bootstrap, records, ["a", "b", "c", "d", "e"])
    commit(bootstrap, f"connect-{name}", {(records, 0): 3})
    return {"name": name, "connector.class": "DirectorySink", "topics": records, "directory": "/out"}


class TestGetConn:
    def test_reaches_the_broker(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        assert sink["topics"] in hook.get_conn().list_topics(timeout=30).topics


class TestOffsets:
    def test_of_a_connector_that_has_not_run_are_none(self, hook: KafkaConnectHook, source: dict[str, str]) -> None:
        assert hook.offsets(source) == []

    @pytest.mark.parametrize("by_name", [False, True], ids=["configuration", "name"])
    def test_of_a_source_are_those_of_the_offset_topic(
        self, hook: KafkaConnectHook, source: dict[str, str], bootstrap: str, worker_topics: str, by_name: bool
    ) -> None:
        commit_source(bootstrap, worker_topics, source["name"], PARTITION, {"position": 100})

        assert hook.offsets(source["name"] if by_name else source) == [
            {"partition": PARTITION, "offset": {"position": 100}}
        ]

    @pytest.mark.parametrize("by_name", [False, True], ids=["configuration", "name"])
    def test_of_a_sink_are_those_of_its_group(
        self, hook: KafkaConnectHook, sink: dict[str, str], by_name: bool
    ) -> None:
        partition = {"kafka_topic": sink["topics"], "kafka_partition": 0}

        assert hook.offsets(sink["name"] if by_name else sink) == [
            {"partition": partition, "offset": {"kafka_offset": 3}}
        ]


class TestLag:
    @pytest.mark.parametrize("by_name", [False, True], ids=["configuration", "name"])
    def test_is_what_a_sink_has_left_to_read(self, hook: KafkaConnectHook, sink: dict[str, str], by_name: bool) -> None:
        found = hook.lag(sink["name"] if by_name else sink)

        assert found.pop("seconds") > 0
        assert found == {"connector": sink["name"], "records": 2, "topics": {sink["topics"]: 2}}

    def test_of_a_sink_that_has_not_run_is_the_whole_topic(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        assert hook.lag({**sink, "name": unique("files")})["records"] == 5

    def test_of_a_group_of_its_own(self, hook: KafkaConnectHook, sink: dict[str, str], bootstrap: str) -> None:
        group = unique("group")
        commit(bootstrap, group, {(sink["topics"], 0): 4})

        assert hook.lag({**sink, "consumer.override.group.id": group})["records"] == 1

    def test_of_a_topic_that_does_not_exist_is_an_error(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        with pytest.raises(ConnectorConfigError, match="topic no-such-topic does not exist"):
            hook.lag({**sink, "topics": "no-such-topic"})

    def test_of_a_source_is_an_error(
        self, hook: KafkaConnectHook, source: dict[str, str], bootstrap: str, worker_topics: str
    ) -> None:
        commit_source(bootstrap, worker_topics, source["name"], PARTITION, {"position": 100})

        with pytest.raises(ConnectorConfigError, match="it is a source"):
            hook.lag(source)
        with pytest.raises(ConnectorConfigError, match="is a source, and only sinks have a lag"):
            hook.lag(source["name"])

    def test_of_an_unknown_name_is_an_error(self, hook: KafkaConnectHook) -> None:
        for ask in (hook.lag, hook.offsets, hook.pause, hook.resume, hook.stop):
            with pytest.raises(ConnectorConfigError, match=r"no connector `unknown-\w+` is registered or has run"):
                ask(unique("unknown"))

    @pytest.mark.timeout(60)
    def test_without_a_broker_the_task_is_retried(self, sink: dict[str, str]) -> None:
        unreachable = KafkaConnectHook(None, {"bootstrap.servers": f"127.0.0.1:{free_port()}"})

        with pytest.raises(ConnectorRetriableError):
            unreachable.lag(sink)


class TestStates:
    def test_a_connector_without_a_state_is_started(self, hook: KafkaConnectHook) -> None:
        assert hook.state(unique("lines")) == "STARTED"

    @pytest.mark.parametrize(("method", "state"), [("pause", "PAUSED"), ("stop", "STOPPED"), ("resume", "STARTED")])
    def test_is_set_and_read_by_name_and_by_configuration(
        self, hook: KafkaConnectHook, source: dict[str, str], method: str, state: str
    ) -> None:
        assert getattr(hook, method)(source["name"], force=True) == {"connector": source["name"], "state": state}
        assert hook.state(source) == state

    def test_runs_of_a_paused_connector_are_skipped_until_it_is_resumed(
        self, hook: KafkaConnectHook, source: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
        FakeSpark(tmp_path).behave(printing(event_line("report", report=REPORT)))

        hook.pause(source)
        with pytest.raises(AirflowSkipException, match=f"{source['name']} is paused"):
            _run(source)
        hook.resume(source)
        assert _run(source) == REPORT


class TestModifiedOffsets:
    def test_altered_ones_of_a_source_are_committed(self, hook: KafkaConnectHook, source: dict[str, str]) -> None:
        wanted = [{"partition": PARTITION, "offset": {"position": 7}}]
        hook.stop(source)

        assert hook.alter_offsets(source, wanted) == {
            "connector": source["name"],
            "message": "The offsets for this connector have been altered successfully",
        }
        assert eventually(lambda: hook.offsets(source), wanted) == wanted

    def test_altered_ones_of_a_sink_change_its_lag(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        hook.stop(sink)
        (entry,) = hook.offsets(sink)
        hook.alter_offsets(sink, {"offsets": [{**entry, "offset": {"kafka_offset": 1}}]})

        assert eventually(lambda: hook.lag(sink)["records"], 4) == 4

    @pytest.mark.parametrize("kind", ["source", "sink"])
    def test_reset_ones_are_removed(
        self, hook: KafkaConnectHook, request: pytest.FixtureRequest, bootstrap: str, worker_topics: str, kind: str
    ) -> None:
        connector = request.getfixturevalue(kind)
        if kind == "source":
            commit_source(bootstrap, worker_topics, connector["name"], PARTITION, {"position": 100})
        hook.stop(connector)

        assert "reset successfully" in hook.reset_offsets(connector)["message"]
        assert not eventually(lambda: bool(hook.offsets(connector)), False)

    def test_those_of_a_started_connector_stay(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        before = hook.offsets(sink)

        with pytest.raises(ConnectorConfigError, match="must be in the STOPPED state"):
            hook.reset_offsets(sink)
        assert hook.offsets(sink) == before

    def test_a_wrong_request_is_an_error(self, hook: KafkaConnectHook, sink: dict[str, str]) -> None:
        hook.stop(sink)
        (entry,) = hook.offsets(sink)

        with pytest.raises(ConnectorConfigError, match="99"):
            hook.alter_offsets(sink, [{**entry, "offset": {"kafka_offset": 99}}])

    def test_a_wrong_connector_is_named_with_all_its_errors(self, hook: KafkaConnectHook) -> None:
        with pytest.raises(ConnectorConfigError, match="of connector bad is invalid") as caught:
            hook.offsets({"name": "bad", "connector.class": "FileStreamSource", "batch.size": "x"})

        assert all(f"`{key}`" in str(caught.value) for key in ("batch.size", "topic"))


def _run(connector: dict[str, str]) -> Any:
    return KafkaSourceOperator(task_id="t", connector=connector).execute(context())
