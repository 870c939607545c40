"""Connectors of a config topic as DAGs, and tasks that read their connector by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import (
    ConnectorOffsetSensor,
    KafkaConnectHook,
    KafkaSourceOperator,
    RegisteredConnector,
    registered_connector_dags,
)
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.operators.registered import reading
from airflow_kconnect.operators.registered.entries import entry_of
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.submit.registered import read_registered
from tests.support.connectors.connector_tasks import context, fake_spark
from tests.support.control import control_plane, control_worker, register
from tests.support.spark.fake_spark import FakeSpark, printing

SOURCE = {"connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}
SINK = {"connector.class": "DirectorySink", "topics": "lines", "directory": "/lake"}
REPORT = RunReport(connector="a", kind="source", connector_class="C", run_id="r", records={"written": 7}).as_dict()


@pytest.fixture
def props(bootstrap: str) -> dict[str, str]:
    return control_worker(bootstrap)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))


def dags(props: dict[str, str], **parameters: Any) -> dict[str, Any]:
    return {**registered_connector_dags(kafka_conn_id=None, worker_config=props, max_age_s=0, **parameters)}


class TestDags:
    def test_come_and_go_with_their_connectors(self, props: dict[str, str]) -> None:
        assert dags(props) == {}

        register(props, a=SOURCE, b=SINK)
        assert sorted(dag.dag_id for dag in dags(props).values()) == ["kconnect.a", "kconnect.b"]

        with control_plane(props) as plane:
            plane.delete("a")
        assert list(dags(props)) == ["b"]

    def test_only_changed_connectors_are_validated_again(
        self, props: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        validated: list[str] = []

        def counting(name: str, *parameters: Any) -> Any:
            validated.append(name)
            return entry_of(name, *parameters)

        monkeypatch.setattr(reading, "entry_of", counting)
        register(props, a=SOURCE, b=SINK)
        dags(props)
        register(props, b={**SINK, "topics": "others"})
        (inlet,) = dags(props)["b"].task_dict["run"].inlets
        assert inlet.name.endswith("/others")
        assert validated == ["a", "b", "b"]

    def test_name_their_connector_and_have_none_of_its_secrets(self, props: dict[str, str], tmp_path: Path) -> None:
        register(props, a={**SOURCE, "producer.override.sasl.password": "very-secret-1"})

        dag = dags(props)["a"]

        assert dag.task_dict["run"].connector == RegisteredConnector("a")
        assert "[hidden]" in dag.doc_md and "very-secret-1" not in dag.doc_md
        assert not any("very-secret-1" in file.read_text() for file in (tmp_path / "cache").rglob("*.json"))

    @pytest.mark.exhaustive
    def test_stay_while_the_broker_is_unavailable(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        broker = EmbeddedBroker(tmp_path / "broker")
        broker.start()
        try:
            props = control_worker(broker.bootstrap)
            register(props, a=SOURCE)
            dags(props)
        finally:
            broker.stop()

        found = dags(props)

        assert list(found) == ["a"]
        assert "Using the list of registered connectors of" in caplog.text

    def test_of_a_file_go_before_those_of_the_topic(self, props: dict[str, str], tmp_path: Path) -> None:
        register(props, a=SOURCE, b=SOURCE)
        (tmp_path / "files").mkdir()
        (tmp_path / "files" / "a.json").write_text(json.dumps({**SINK, "name": "a"}))

        found = dags(props, folder=tmp_path / "files")

        assert {name: "sink" in dag.tags for name, dag in found.items()} == {"a": True, "b": False}


class TestTasks:
    @pytest.fixture
    def spark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
        """A spark-submit that ends with a report."""
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
        spark = FakeSpark(tmp_path)
        spark.behave(printing(event_line("report", report=REPORT)))
        return spark

    def run(self, props: dict[str, str], connector: Any) -> dict[str, Any] | None:
        operator = KafkaSourceOperator(task_id="t", connector=connector, kafka_conn_id=None, worker_config=props)
        return operator.execute(context())

    @pytest.mark.parametrize("connector", ["a", RegisteredConnector("a")])
    def test_read_the_present_configuration(self, props: dict[str, str], spark: FakeSpark, connector: Any) -> None:
        register(props, a=SOURCE)
        register(props, a={**SOURCE, "topic": "rows"})

        assert self.run(props, connector) == REPORT
        assert json.loads((spark.folder / "run.json").read_text())["spec"]["config"] == {
            **SOURCE,
            "topic": "rows",
            "name": "a",
        }

    def test_bring_their_spark_settings(self, props: dict[str, str], spark: FakeSpark) -> None:
        register(props, a={**SOURCE, "kconnect.spark.conf.spark.driver.memory": "2g"})

        self.run(props, "a")

        assert "spark.driver.memory=2g" in json.loads((spark.folder / "command.json").read_text())

    def test_of_an_unknown_name_say_which_there_is(self, props: dict[str, str], spark: FakeSpark) -> None:
        register(props, orders=SOURCE)

        with pytest.raises(ConnectorConfigError, match=r"there is no connector `order` in topic .*mean `orders`\?"):
            self.run(props, "order")

    def test_of_an_invalid_configuration_fail_with_its_errors(self, props: dict[str, str], spark: FakeSpark) -> None:
        worker = {**props, "kconnect.spark.conf.allowed": "spark.driver.cores"}
        register(worker, a={**SOURCE, "kconnect.spark.conf.spark.driver.cores": "2"})

        with pytest.raises(ConnectorConfigError, match=r"does not allow connectors to set spark\.driver\.cores"):
            self.run({**props, "kconnect.spark.conf.allowed": "spark.driver.memory"}, "a")


class TestGroups:
    GROUP = {"kconnect.group": "shop"}

    def test_the_task_reads_the_topic_once_and_leaves_out_what_is_paused_or_wrong(
        self, props: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        register(props, **{name: {**SOURCE, **self.GROUP} for name in "abc"})
        with control_plane(props) as plane:
            plane.set_target_state("b", TargetState.PAUSED)
        (task,) = dags(props)["a"].tasks
        with control_plane(props) as plane:
            plane.delete("c")
        reads = counted_reads(monkeypatch)
        spark = fake_spark(tmp_path, monkeypatch)
        spark.behave(printing(event_line("report", connector="a", report=REPORT)))

        with pytest.raises(ConnectorConfigError, match="1 of 3 connectors failed") as raised:
            task.execute(context())

        assert "there is no connector `c`" in str(raised.value)
        assert [run["config"]["name"] for run in spark.run["spec"]["runs"]] == ["a"]
        assert len(reads) == 1


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Grows with each read of the config topic by a task."""
    reads: list[Any] = []

    def counting(worker: Any) -> Any:
        reads.append(worker)
        return read_registered(worker)

    monkeypatch.setattr("airflow_kconnect.hooks.worker.read_registered", counting)
    return reads


def test_a_sensor_needs_only_the_name(props: dict[str, str]) -> None:
    register(props, a=SOURCE)
    sensor = ConnectorOffsetSensor(
        task_id="t",
        connector="a",
        kafka_conn_id=None,
        worker_config=props,
        partition={"filename": "/in"},
        offset={"position": 1},
    )

    assert not sensor.poke({}).is_done


def test_the_hook_needs_only_the_name(props: dict[str, str]) -> None:
    register(props, a=SOURCE)

    assert KafkaConnectHook(None, props).validate("a")["kind"] == "source"
