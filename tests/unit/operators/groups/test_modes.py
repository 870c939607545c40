"""Groups on clusters, in mapped tasks and backfills, killed; what OpenLineage gets; what is never stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred
from airflow.sdk import DAG

from airflow_kconnect import KafkaConnectorGroupOperator
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRetriableError, ConnectorRunError
from tests.support.connectors.connector_tasks import context, report
from tests.support.connectors.group_tasks import Store, a_sink, a_source, done, failed, group, job, of_try
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.resource_manager import APPLICATION, resource_manager

SECRET = "literal-secret-9"
TABLE = {
    "name": "a",
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db:5432/shop",
    "connection.user": "me",
    "table.whitelist": "a",
    "topic.prefix": "t-",
}
WRONG = a_source("wrong", **{"tasks.max": "many"})


class TestClusterMode:
    @pytest.fixture(autouse=True)
    def yarn(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
        spark.behave(printing("application_1_2 FINISHED"))

    def test_the_file_is_uploaded_and_there_are_no_reports(self, spark: FakeSpark) -> None:
        assert group(a_source("a"), durable=False).execute(context()) is None
        command = spark.command
        assert command[command.index("--files") + 1].endswith(command[command.index("--run") + 1])

    def test_a_wrong_connector_makes_the_task_fail_when_the_job_has_ended(self) -> None:
        with pytest.raises(ConnectorConfigError, match="1 of 2 connectors failed"):
            group(a_source("a"), WRONG, durable=False).execute(context())

    def test_a_job_that_fails_is_that_of_all(self, spark: FakeSpark) -> None:
        spark.behave(printing(exit_code=1))
        with pytest.raises(ConnectorRunError, match="spark-submit ended with exit code 1"):
            group(a_source("a"), durable=False).execute(context())

    def test_after_a_deferral_the_ends_are_those_that_were_known(self) -> None:
        ends = [{"connector": "a", "report": None, "error": None, "state": None}]
        error = {"error": "ConfigError", "message": "wrong", "exit_code": 1, "errors": None}
        ends.append({**ends[0], "connector": "b", "error": error})  # type: ignore[dict-item]
        event = {"status": "succeeded", "job_id": "application_1_2", "message": "FINISHED"}
        with pytest.raises(ConnectorConfigError, match="1 of 2 connectors failed"):
            group(a_source("a"), a_source("b")).execute_complete(context(), event, {"ends": ends})


class TestDeferred:
    """With a staging folder the job says how each connector has ended, as it does without a deferral."""

    @pytest.fixture(autouse=True)
    def yarn(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with resource_manager("RUNNING") as manager:
            extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": manager.address}
            extra["staging"] = str(spark.folder / "staging")
            connection = {"conn_type": "spark", "host": "yarn", "extra": extra}
            monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
            spark.behave(printing(f"INFO YarnClientImpl: Submitted application {APPLICATION}"))
            self.manager = manager
            yield

    def attempt(self, spark: FakeSpark, of: Any, *connectors: Any, **ends: str) -> dict[str, Any] | None:
        """An attempt whose job ends so. :param ends: "done", or the name of an error, by connector."""
        with pytest.raises(TaskDeferred) as deferred:
            group(*connectors, deferrable=True).execute(of)
        facts = json.loads(json.dumps(deferred.value.kwargs))["facts"]
        (mailbox,) = (spark.folder / "staging" / "runs").iterdir()
        self.ran = [run["config"]["name"] for run in json.loads((mailbox / "run.json").read_text())["runs"]]
        events = [done(name) if how == "done" else failed(name, how, 3) for name, how in ends.items()]
        lines = [line.replace(" ", f" {facts['token']} ", 1) for line in events]
        (mailbox / "end.jsonl").write_text("".join(f"{line}\n" for line in lines))
        self.manager.answer("FINISHED/FAILED")
        well = set(ends.values()) == {"done"}
        event = {"status": "succeeded" if well else "failed", "job_id": APPLICATION, "message": "has ended"}
        return group(*connectors).execute_complete(of, event, facts)

    def test_a_retry_runs_only_what_it_may_help(self, spark: FakeSpark) -> None:
        store, connectors = Store(), [a_source("a"), a_source("b")]
        with pytest.raises(ConnectorRetriableError, match="1 of 2 connectors failed"):
            self.attempt(spark, of_try(store), *connectors, a="done", b="RetriableError")
        self.attempt(spark, of_try(store, 2), *connectors, b="done")
        assert self.ran == ["b"]

    def test_the_reports_of_all_attempts_are_returned(self, spark: FakeSpark) -> None:
        store, connectors = Store(), [a_source(name) for name in "abc"]
        for number, ends in enumerate(({"a": "done", "b": "E", "c": "E"}, {"b": "done", "c": "E"}), 1):
            with pytest.raises(ConnectorRetriableError):
                self.attempt(spark, of_try(store, number), *connectors, **ends)
        returned = self.attempt(spark, of_try(store, 3), *connectors, c="done")
        assert returned == {name: report(connector=name) for name in "abc"}

    def test_what_was_wrong_stays_in_the_table(self, spark: FakeSpark) -> None:
        store, connectors = Store(), [a_source("b"), WRONG]
        with pytest.raises(ConnectorRetriableError, match="2 of 2 connectors failed"):
            self.attempt(spark, of_try(store), *connectors, b="RetriableError")
        with pytest.raises(ConnectorConfigError, match="1 of 2 connectors failed; a retry would not help"):
            self.attempt(spark, of_try(store, 2), *connectors, b="done")

    def test_callbacks_get_the_kinds_of_those_that_failed(self, spark: FakeSpark) -> None:
        of = of_try(Store())
        with pytest.raises(ConnectorRetriableError):
            self.attempt(spark, of, a_source("a"), a_sink("b"), a="E", b="E")
        assert [(each["connector"], each["kind"]) for each in of["kconnect"]["failures"]] == [
            ("a", "source"),
            ("b", "sink"),
        ]

    def test_one_that_is_paused_is_in_the_table_too(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(
            "airflow_kconnect.operators.groups.members.not_started", lambda names, worker: {"a": "PAUSED"}
        )
        self.attempt(spark, of_try(Store()), a_source("a"), a_source("b"), b="done")
        assert "a          paused" in capsys.readouterr().out


class TestMapped:
    def mapped(self, **parameters: Any) -> KafkaConnectorGroupOperator:
        with DAG("d"):
            mapped = KafkaConnectorGroupOperator.partial(task_id="move", **parameters).expand(connectors=[[], []])
        operator = mapped.unmap({"connectors": [a_source("a")]})
        assert isinstance(operator, KafkaConnectorGroupOperator)
        return operator

    def test_has_the_aliases_of_its_own_sources(self) -> None:
        assert [alias.name for alias in self.mapped().outlets] == ["kconnect/a"]

    def test_secrets_of_the_worker_are_refused_since_airflow_stores_them(self, spark: FakeSpark) -> None:
        with pytest.raises(ConnectorConfigError, match=r"`sasl\.password`"):
            self.mapped(worker_config={"sasl.password": SECRET}).execute(context())


class TestBackfill:
    PARAMS = {"mode": "replay", "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T01:00:00Z"}

    def test_replays_the_interval_with_all(self, spark: FakeSpark) -> None:
        spark.behave(job(done("b", "sink")))
        group(a_sink("b")).execute(context(params=self.PARAMS))
        (run,) = spark.run["spec"]["runs"]
        assert run["replay"]["end_ms"] - run["replay"]["start_ms"] == 3_600_000

    def test_a_connector_that_cannot_replay_fails_alone(self, spark: FakeSpark) -> None:
        spark.behave(job(done("b", "sink")))
        incrementing = {**TABLE, "mode": "incrementing", "incrementing.column.name": "id"}
        with pytest.raises(ConnectorConfigError, match="1 of 2 connectors failed"):
            group(incrementing, a_sink("b")).execute(context(params=self.PARAMS))

    def test_a_retry_knows_what_a_source_has_replayed_before(self, spark: FakeSpark) -> None:
        store, moved = Store(), {"topic": "t-a", "partition": 0, "start": 3, "end": 5}
        source = {**TABLE, "mode": "timestamp", "timestamp.column.name": "changed"}
        interval = "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"
        first = done("a", replay=interval, ranges=[moved])
        spark.behave(job(first, failed("b", "RetriableError", 3), exit_code=3))
        with pytest.raises(ConnectorRunError):
            group(source, a_sink("b")).execute(of_try(store, params=self.PARAMS))
        spark.behave(job(done("b", "sink")))
        group(source, a_sink("b")).execute(of_try(store, 2, params=self.PARAMS))
        (run,) = spark.run["spec"]["runs"]
        assert run["replay"]["written"] == [moved]


class TestSecrets:
    def test_are_not_on_the_command_line(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a")))
        group(a_source("a", **{"producer.override.ssl.key.password": SECRET})).execute(context())
        assert SECRET not in str(spark.command)

    def test_are_masked_in_what_is_kept_for_a_retry(self, spark: FakeSpark) -> None:
        store = Store()
        wrong = a_source(
            "b", **{"value.converter": "JsonConverter", "value.converter.password": SECRET, "tasks.max": SECRET}
        )
        spark.behave(job(failed("a", "RetriableError", 3), exit_code=3))
        operator = group(a_source("a"), wrong)
        operator.render_template_fields(context())
        with pytest.raises(ConnectorRunError):
            operator.execute(of_try(store))
        assert "b" in json.dumps(store) and SECRET not in json.dumps(store)


def test_a_kill_removes_the_file_with_the_configurations(spark: FakeSpark) -> None:
    operator = group(a_source("a"))
    seen: list[bool] = []

    def killed(context: Any, hook: Any) -> None:
        operator.on_kill()
        assert operator._run_file is not None
        seen.append(operator._run_file.exists())

    operator.run_job = killed  # type: ignore[method-assign]
    with pytest.raises(ConnectorRunError):
        operator.execute(context())
    assert seen == [False]


def test_lineage_has_the_datasets_of_all(spark: FakeSpark) -> None:
    pytest.importorskip("airflow.providers.openlineage")
    spark.behave(job(done("a", topics=["t-a"]), done("b", "sink", topics=["t-a"])))
    operator = group(a_source("a"), a_sink("b"))
    operator.execute(context())
    lineage = operator.get_openlineage_facets_on_complete(None)
    assert {each.name for each in lineage.inputs} == {"/data/in", "t-a"}
    assert {each.name for each in lineage.outputs} == {"/lake/t-a", "t-a"}


def test_a_group_without_connectors_is_an_error(spark: FakeSpark) -> None:
    with pytest.raises(ConnectorConfigError, match="`connectors`: has no connectors"):
        group().execute(context())
