"""The link to Spark's UI: there while the job runs, and not in the way when it cannot be stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred, TaskInstanceKey

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.errors import ConnectorFencedError
from airflow_kconnect.operators.links import RunbookLink, SparkUiLink
from airflow_kconnect.runbooks import FOLDER
from airflow_kconnect.runs.events import event_line
from tests.support.connectors.connector_tasks import SOURCE, context, fake_spark, report
from tests.support.spark.fake_spark import FakeSpark, printing

URL = "http://10.0.0.7:4040"
PAGE = "http://rm:8088/proxy/application_1_2/"
REPORT = event_line("report", report=report())
KEY = TaskInstanceKey(dag_id="d", task_id="t", run_id="r")


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    spark = fake_spark(tmp_path, monkeypatch)
    spark.behave(printing(event_line("spark_ui", url=URL), REPORT))
    return spark


def test_is_stored_under_the_key_by_which_airflow_finds_it(spark: FakeSpark) -> None:
    given = context()

    KafkaSourceOperator(task_id="t", connector=SOURCE).execute(given)

    assert given["xcoms"] == {SparkUiLink().xcom_key: URL}


def test_a_drivers_ui_is_no_longer_a_link_when_the_task_has_ended(spark: FakeSpark) -> None:
    operator = KafkaSourceOperator(task_id="t", connector=SOURCE)
    operator.execute(context())

    assert SparkUiLink().get_link(operator, ti_key=KEY) == ""


def test_without_a_run_there_is_no_link() -> None:
    assert SparkUiLink().get_link(KafkaSourceOperator(task_id="t", connector=SOURCE), ti_key=KEY) == ""


def test_the_page_of_an_application_on_yarn_stays(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "yarn"}))
    spark.behave(printing(f"\t tracking URL: {PAGE}", f"\t tracking URL: {PAGE}", REPORT))
    operator, given = KafkaSourceOperator(task_id="t", connector=SOURCE), context()

    operator.execute(given)

    assert given["xcoms"] == {SparkUiLink().xcom_key: PAGE}
    assert SparkUiLink().get_link(operator, ti_key=KEY) == PAGE


def test_a_task_that_was_deferred_finds_the_page_again(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": "http://rm:8088"}
    connection = {"conn_type": "spark", "host": "yarn", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    spark.behave(printing("Submitted application application_1_2", f"\t tracking URL: {PAGE}"))
    with pytest.raises(TaskDeferred) as deferred:
        KafkaSourceOperator(task_id="t", connector=SOURCE, deferrable=True).execute(context())
    operator = KafkaSourceOperator(task_id="t", connector=SOURCE)
    event = {"status": "succeeded", "message": "FINISHED/SUCCEEDED", "job_id": "application_1_2"}

    operator.execute_complete(context(), event, **(deferred.value.kwargs or {}))

    assert SparkUiLink().get_link(operator, ti_key=KEY) == PAGE


def test_a_link_that_cannot_be_stored_does_not_end_the_job(spark: FakeSpark) -> None:
    given = context()

    def refuse(key: str, value: str) -> None:
        raise OSError("Airflow's API server is unavailable")

    given["ti"].xcom_push = refuse

    assert KafkaSourceOperator(task_id="t", connector=SOURCE).execute(given) == report()


def test_a_failure_with_a_runbook_has_a_link_to_it(spark: FakeSpark) -> None:
    message = "driver of connector lines: fenced by a newer run"
    spark.behave(printing(event_line("error", error="FencedError", message=message, exit_code=4), exit_code=4))
    operator = KafkaSourceOperator(task_id="t", connector=SOURCE)

    with pytest.raises(ConnectorFencedError):
        operator.execute(context())

    assert RunbookLink().get_link(operator, ti_key=KEY) == f"{FOLDER}/fenced.md"


def test_a_success_has_none(spark: FakeSpark) -> None:
    operator = KafkaSourceOperator(task_id="t", connector=SOURCE)

    operator.execute(context())

    assert RunbookLink().get_link(operator, ti_key=KEY) == ""
