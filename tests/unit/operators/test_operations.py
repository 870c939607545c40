"""Operators for operations, as far as they need no broker; the rest is in tests/integration/operators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException

from airflow_kconnect import AlterOffsetsOperator, KafkaSinkOperator, PauseConnectorOperator, ReplayDeadLettersOperator
from airflow_kconnect import ValidateConnectorOperator as Validate
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.worker import Configurations
from airflow_kconnect.operators.states import skip_unless_started
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from tests.support.airflow.operator_runs import context
from tests.support.spark.fake_spark import FakeSpark, printing

WORKER = {"bootstrap.servers": "broker:9092"}
SOURCE = {"name": "lines", "config": {"connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}}
CONTEXT: Any = {}


def _validate(connector: Any) -> Validate:
    return Validate(task_id="check", connector=connector, worker_config=WORKER, kafka_conn_id=None)


class TestValidate:
    def test_a_valid_one_is_described(self) -> None:
        assert _validate(SOURCE).execute(CONTEXT) == {
            "connector": "lines",
            "connector_class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "kind": "source",
            "warnings": [],
        }

    def test_all_errors_come_at_once_and_are_not_retried(self) -> None:
        wrong = {"name": "lines", "config": {"connector.class": "FileStreamSource", "batch.size": "x"}}
        with pytest.raises(AirflowFailException) as caught:
            _validate(wrong).execute(CONTEXT)
        assert all(f"`{key}`" in str(caught.value) for key in ("batch.size", "file", "topic"))

    def test_variables_are_left_to_the_run(self) -> None:
        config = {**SOURCE["config"], "topic": "${file:/nowhere:topic}"}  # type: ignore[dict-item]
        assert _validate({"name": "lines", "config": config}).execute(CONTEXT)["kind"] == "source"

    def test_a_file_that_is_missing_is_not_retried(self) -> None:
        with pytest.raises(AirflowFailException, match="does not exist"):
            _validate("nowhere.json").execute(CONTEXT)


class TestFields:
    def test_the_request_is_templated(self) -> None:
        operator = AlterOffsetsOperator(
            task_id="alter",
            connector=SOURCE,
            offsets=[{"partition": {"filename": "/data/in"}, "offset": {"position": "{{ 1 + 1 }}"}}],
        )
        operator.render_template_fields({})
        assert operator.offsets == [{"partition": {"filename": "/data/in"}, "offset": {"position": "2"}}]

    def test_the_worker_configuration_is_not_stored(self) -> None:
        assert "worker_config" not in PauseConnectorOperator.template_fields

    def test_a_connector_without_name_is_an_error(self) -> None:
        pause = PauseConnectorOperator(task_id="p", connector={"topic": "t"}, worker_config=WORKER, kafka_conn_id=None)
        with pytest.raises(AirflowFailException, match='Missing required configuration "name"'):
            pause.execute(CONTEXT)


class TestSkip:
    """Kafka, and the files of variables, may be out of reach of a worker whose jobs run in cluster mode."""

    FOUND = Configurations({"name": "c"}, WORKER | {"sasl.password": "${file:/nowhere:p}"}, {})

    def test_what_cannot_be_seen_from_here_is_left_to_the_job(self, caplog: pytest.LogCaptureFixture) -> None:
        skip_unless_started(self.FOUND, driver_is_here=False)
        assert "Cannot check from here whether connector c is paused" in caplog.text

    def test_where_the_driver_is_here_it_is_an_error(self) -> None:
        with pytest.raises(ConfigError, match=r"sasl\.password"):
            skip_unless_started(self.FOUND, driver_is_here=True)


@pytest.mark.parametrize(
    ("operator_class", "params"), [(ReplayDeadLettersOperator, {}), (KafkaSinkOperator, {"mode": "dead_letters"})]
)
def test_dead_letters_are_replayed_by_a_sinks_job(
    operator_class: type[KafkaSinkOperator], params: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    report = RunReport(connector="files", kind="sink", connector_class="C", run_id="r").as_dict()
    spark = FakeSpark(tmp_path)
    spark.behave(printing(event_line("report", report=report)))
    sink = {"name": "files", "connector.class": "DirectorySink", "topics": "t", "directory": "/out"}
    operator = operator_class(task_id="replay", connector=sink, worker_config=WORKER, kafka_conn_id=None)
    operator.execute(context() | {"params": params})
    assert json.loads((tmp_path / "run.json").read_text())["spec"]["replay_dead_letters"] is True
