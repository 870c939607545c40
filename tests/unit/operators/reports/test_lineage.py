"""Lineage as OpenLineage's provider asks for it, and as its client would send it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.openlineage.extractors.base import DefaultExtractor
from openlineage.client.naming import dataset as naming
from openlineage.client.serde import Serde

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.operators.reports.moved import kafka_namespace
from airflow_kconnect.runs.events import event_line
from tests.support.connectors.connector_tasks import SINK, SOURCE, context, ending_with, fake_spark, report
from tests.support.spark.fake_spark import FakeSpark, printing

SCHEMA = Path(__file__).parents[4] / "docs/reference/openlineage/KConnectRunFacet.json"
TABLES = {
    "name": "shop",
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db/shop?sslmode=require",
    "connection.user": "reader-1",
    "connection.password": "${env:SHOP_PASSWORD}",
    "mode": "incrementing",
    "incrementing.column.name": "id",
    "table.whitelist": "orders",
    "topic.prefix": "shop-",
}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    return fake_spark(tmp_path, monkeypatch)


def _sent(lineage: Any) -> dict[str, Any]:
    """The lineage as JSON, as OpenLineage's client makes it."""
    sent: dict[str, Any] = json.loads(Serde.to_json(lineage))
    return sent


def _names(datasets: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(dataset["namespace"], dataset["name"]) for dataset in datasets]


def _named(name: Any) -> tuple[str, str]:
    """A dataset's name by OpenLineage's own rules."""
    return name.get_namespace(), name.get_name()


def _after_run(spark: FakeSpark, operator: Any, content: dict[str, Any]) -> dict[str, Any]:
    spark.behave(ending_with(content))
    operator.execute(context())
    return _sent(DefaultExtractor(operator).extract_on_complete(None))


KAFKA = _named(naming.Kafka("broker", "9093", "lines"))


class TestDatasets:
    def test_of_a_source_that_begins(self, spark: FakeSpark) -> None:
        sent = _sent(DefaultExtractor(KafkaSourceOperator(task_id="t", connector=SOURCE)).extract())

        assert _names(sent["inputs"]) == [_named(naming.LocalFileSystem("/data/in"))]
        assert _names(sent["outputs"]) == [KAFKA]

    def test_of_a_sink_that_begins(self, spark: FakeSpark) -> None:
        sent = _sent(DefaultExtractor(KafkaSinkOperator(task_id="t", connector=SINK)).extract())

        assert _names(sent["inputs"]) == [KAFKA]
        assert _names(sent["outputs"]) == [_named(naming.LocalFileSystem("/lake/lines"))]

    def test_of_a_run_that_has_ended_are_those_of_its_report(self, spark: FakeSpark) -> None:
        partition = {"protocol": "1", "table": "sales.orders"}
        content = report(topics=["shop-orders"], offsets=[{"partition": partition, "offset": {"incrementing": 7}}])

        sent = _after_run(spark, KafkaSourceOperator(task_id="t", connector=TABLES), content)

        assert _names(sent["inputs"]) == [_named(naming.Postgres("db", "5432", "shop", "sales", "orders"))]
        assert _names(sent["outputs"]) == [_named(naming.Kafka("broker", "9093", "shop-orders"))]

    def test_names_that_depend_on_variables_are_left_out(self, spark: FakeSpark) -> None:
        connector = {**SOURCE, "file": "${env:FOLDER}/in"}
        sent = _sent(DefaultExtractor(KafkaSourceOperator(task_id="t", connector=connector)).extract())

        assert sent["inputs"] == []

    @pytest.mark.parametrize(
        ("servers", "namespace"),
        [
            ("b1:9093,b2:9093", "kafka://b1:9093"),
            ("SASL_SSL://b1:9093", "kafka://b1:9093"),
            (" b1 , b2", "kafka://b1:9092"),
        ],
    )
    def test_the_first_broker_names_the_cluster(self, servers: str, namespace: str) -> None:
        assert kafka_namespace(servers) == namespace


class TestRows:
    def test_are_counted_for_what_was_read_and_written(self, spark: FakeSpark) -> None:
        content = report(records={"read": 9, "written": 7})

        sent = _after_run(spark, KafkaSourceOperator(task_id="t", connector=SOURCE), content)

        assert sent["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 9
        assert sent["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 7

    def test_of_several_datasets_are_not_guessed(self, spark: FakeSpark) -> None:
        operator = KafkaSourceOperator(task_id="t", connector=SOURCE)
        sent = _after_run(spark, operator, report(topics=["a", "b"]))

        assert [output["outputFacets"] for output in sent["outputs"]] == [{}, {}]

    def test_dead_letters_are_an_output_of_their_own(self, spark: FakeSpark) -> None:
        operator = KafkaSinkOperator(task_id="t", connector={**SINK, "errors.deadletterqueue.topic.name": "bad"})
        sent = _after_run(spark, operator, report("sink", records={"read": 7, "written": 5, "dead_lettered": 2}))

        rows = {output["name"]: output["outputFacets"]["outputStatistics"]["rowCount"] for output in sent["outputs"]}
        assert rows == {"/lake/lines": 5, "bad": 2}


class TestRunFacet:
    @pytest.mark.parametrize(
        ("operator", "connector", "kind"), [(KafkaSourceOperator, SOURCE, "source"), (KafkaSinkOperator, SINK, "sink")]
    )
    def test_is_as_its_schema_says(self, spark: FakeSpark, operator: Any, connector: Any, kind: str) -> None:
        sent = _after_run(spark, operator(task_id="t", connector=connector), report(kind))

        schema, facet = json.loads(SCHEMA.read_text()), sent["run_facets"]["kconnect_run"]
        jsonschema.validate(facet, schema)
        assert facet["_schemaURL"] == schema["$id"]

    def test_has_the_offsets(self, spark: FakeSpark) -> None:
        sent = _after_run(spark, KafkaSinkOperator(task_id="t", connector=SINK), report("sink"))

        assert sent["run_facets"]["kconnect_run"]["offsets"] == [{"topic": "lines", "partition": 0, "offset": 7}]


class TestFailure:
    def test_has_the_datasets_and_the_jobs_words(self, spark: FakeSpark) -> None:
        error = event_line("error", error="DataError", message="bad record at lines-0@3", exit_code=1, errors=None)
        spark.behave(printing(error, exit_code=1))
        operator = KafkaSinkOperator(task_id="t", connector=SINK)
        with pytest.raises(AirflowException):
            operator.execute(context())

        sent = _sent(DefaultExtractor(operator).extract_on_failure(None))

        assert sent["run_facets"]["errorMessage"]["message"].startswith("bad record at lines-0@3 (runbook: ")
        assert _names(sent["inputs"]) == [KAFKA]


def test_a_database_that_is_named_by_its_connection_is_known(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = {"conn_type": "postgres", "host": "db", "schema": "shop", "login": "etl", "password": "canary-81"}
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps(warehouse))
    connector = {key: value for key, value in TABLES.items() if key not in ("connection.user", "connection.password")}
    connector["connection.url"] = "${airflow:warehouse:jdbc_url}"

    sent = _after_run(spark, KafkaSourceOperator(task_id="t", connector=connector), report())

    assert _names(sent["inputs"]) == [_named(naming.Postgres("db", "5432", "shop", "public", "orders"))]
    assert "canary-81" not in json.dumps(sent)


def test_no_secret_is_sent(spark: FakeSpark) -> None:
    sent = json.dumps(_after_run(spark, KafkaSourceOperator(task_id="t", connector=TABLES), report()))

    assert not [text for text in ("reader-1", "SHOP_PASSWORD", "sslmode", "conn-pass") if text in sent]


def test_airflows_own_fallback_is_not_needed(spark: FakeSpark) -> None:
    """An operator without lineage gets its inlets and outlets, which are named by connections and not by brokers."""
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    operator = KafkaSinkOperator(task_id="t", connector=SINK)

    manager = ExtractorManager()  # type: ignore[no-untyped-call]

    assert manager.get_extractor_class(operator) is DefaultExtractor
