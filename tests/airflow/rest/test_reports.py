"""The tab at a DAG run with what its connectors have reported: for whom, and in Airflow's own UI, which is its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.by import By

from airflow_kconnect.operators.reports.failures import FAILURE
from tests.airflow.conftest import PASSWORDS
from tests.airflow.rest.conftest import PATIENCE_S
from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.connectors.connector_tasks import report
from tests.support.pages.connectors_page import ConnectorsPage

_DAG = """
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG({dag_id!r}, schedule=None):
    for task_id in ("read", "write", "other"):
        EmptyOperator(task_id=task_id)
"""
OFFSETS = [{"topic": "lines", "partition": n, "offset": 7} for n in range(150)]
REPORT = report("sink", records={"read": 7, "written": 5, "dead_lettered": 2}, offsets=OFFSETS)
REPORT |= {"warnings": ["2 records became dead letters"], "warning_kinds": ["dead_letters"], "lag": {"lines": 1234}}
FAILED = {"connector": "orders-source", "kind": "source", "error": "ConnectorRunError", "message": "the broker is down"}


@pytest.fixture
def run(airflow_url: str, tmp_path: Path) -> dict[str, str]:
    """A DAG run: one of its tasks has left a report, one a failure, one something else."""
    from airflow.api.common.trigger_dag import trigger_dag
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from airflow.utils.types import DagRunTriggeredByType
    from sqlalchemy import update

    dag_id = unique("moved")
    add_dag(tmp_path / "dags", _DAG.format(dag_id=dag_id))
    started = trigger_dag(dag_id, triggered_by=DagRunTriggeredByType.TEST)
    assert started is not None
    ids = {"dag_id": dag_id, "run_id": str(started.run_id)}
    with create_session() as session:
        session.execute(update(TaskInstance).where(TaskInstance.run_id == started.run_id).values(state="success"))
    for task_id, key, value in (
        ("write", "return_value", REPORT),
        ("read", FAILURE, {**FAILED, "report": None}),
        ("other", "return_value", {"records": 3}),
    ):
        XComModel.set(key, value, dag_id=dag_id, run_id=ids["run_id"], task_id=task_id)
    return ids


@pytest.fixture
def client(airflow_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{airflow_url}/kconnect", timeout=60) as client:
        yield client


def test_the_connector_tasks_of_a_run_and_what_they_have_left(client: httpx.Client, run: dict[str, str]) -> None:
    answer = client.get("/v1/reports", params=run, auth=("bob", PASSWORDS["bob"]))
    assert not answer.json()["ended"]  # nothing has run it
    tasks = {task["task_id"]: task for task in answer.json()["tasks"]}
    assert set(tasks) == {"read", "write"}
    assert (tasks["read"]["report"], tasks["read"]["failure"]) == (None, FAILED)
    assert tasks["write"]["report"] == {**REPORT, "offsets": OFFSETS[:100], "partitions": 150}


def test_each_connector_of_a_group_has_an_entry_those_that_failed_first(
    client: httpx.Client, run: dict[str, str]
) -> None:
    from airflow.models.xcom import XComModel

    left = [{**FAILED, "report": None}, {"report": REPORT}]
    XComModel.set(FAILURE, left, dag_id=run["dag_id"], run_id=run["run_id"], task_id="other")
    XComModel.set("return_value", {"files": REPORT}, dag_id=run["dag_id"], run_id=run["run_id"], task_id="write")
    tasks = client.get("/v1/reports", params=run, auth=("bob", PASSWORDS["bob"])).json()["tasks"]
    found = [(each["failure"], each["report"] and each["report"]["connector"]) for each in tasks]
    assert [each for each, task in zip(found, tasks, strict=True) if task["task_id"] == "other"] == [
        (FAILED, None),
        (None, "files"),
    ]
    assert [each for each, task in zip(found, tasks, strict=True) if task["task_id"] == "write"] == [(None, "files")]


def test_callers_without_a_login_are_refused(client: httpx.Client, run: dict[str, str]) -> None:
    assert client.get("/v1/reports", params=run).status_code == 401


def test_who_may_not_read_xcoms_of_the_dag_is_refused(
    client: httpx.Client, run: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.api_fastapi.app import get_auth_manager

    asked: list[Any] = []
    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", lambda **about: asked.append(about))
    answer = client.get("/v1/reports", params=run, auth=("bob", PASSWORDS["bob"]))
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        f"bob may not see what tasks of DAG {run['dag_id']} have returned",
    )
    assert (asked[0]["access_entity"].value, asked[0]["details"].id) == ("XCOM", run["dag_id"])


@pytest.mark.timeout(300)
def test_the_tab_is_at_the_run_in_airflows_ui(
    airflow_url: str, run: dict[str, str], log_in: Callable[[str], ConnectorsPage]
) -> None:
    page = log_in("bob")
    driver = page.driver
    driver.get(f"{airflow_url}/dags/{run['dag_id']}/runs/{run['run_id']}")
    page.until(lambda: page.all("a[href$='plugin/connector-reports']"), "the run has no tab", PATIENCE_S)
    page.press("a[href$='plugin/connector-reports']")
    page.until(lambda: page.all("iframe"), "there is no frame", PATIENCE_S)
    driver.switch_to.frame(driver.find_element(By.TAG_NAME, "iframe"))
    page.see("2 records became dead letters", patience_s=PATIENCE_S)
    page.see("the broker is down")
    assert "1,234" in page.text(".counts")
    driver.switch_to.default_content()
    page.screenshot("run-in-airflow")
    # On its own, for its looks.
    query = "&".join(f"{key}={text.replace('+', '%2B')}" for key, text in run.items())
    page.open(f"/kconnect/ui/run.html?{query}")
    for theme, width in (("light", 1400), ("dark", 420)):
        page.theme(theme)
        driver.set_window_size(width, 1000)
        page.see("the broker is down")
        page.find("summary").click()
        page.screenshot(f"run-{theme}")
        assert page.accessibility() == []
    assert page.errors() == []
