"""A group in Airflow itself, with a real broker and real jobs: it fails in part, is killed, retried, and put right."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect import topic_asset
from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.spark.jobs import command_of

_DAG = """
import json, os
from datetime import timedelta
from pathlib import Path

from airflow.sdk import DAG

from airflow_kconnect import KafkaConnectorGroupOperator

def note(context):
    with open(os.environ["NOTED"], "a") as noted:
        noted.write(json.dumps({{"try": context["ti"].try_number, **context["kconnect"]}}) + "\\n")

with DAG({dag_id!r}):
    KafkaConnectorGroupOperator(
        task_id="move",
        folder={folder!r},
        worker_config={{"offset.storage.replication.factor": "-1"}},
        env_vars={{"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": "after-last-write:block:{blocked}"}},
        retries=1,
        retry_delay=timedelta(0),
        on_retry_callback=note,
        on_failure_callback=note,
    )
"""
STRING = "org.apache.kafka.connect.storage.StringConverter"


class Shop:
    """The files of three sources, a sink for what they write, and a connector that is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.names = [unique("source") for _ in range(3)]
        for name in self.names:
            (folder.parent / f"{name}.txt").write_text(f"{name}-1\n")
            self.put(
                name, {"connector.class": "FileStreamSource", "file": f"{folder.parent}/{name}.txt", "topic": name}
            )
        self.sink, self.out = unique("sink"), folder.parent / "out.txt"
        self.put(
            self.sink, {"connector.class": "FileStreamSink", "file": str(self.out), "topics": ",".join(self.names)}
        )
        self.wrong = unique("wrong")
        self.put(self.wrong, {"connector.class": "FileStreamSource", "file": f"{folder.parent}/{self.names[0]}.txt"})

    def put(self, name: str, config: Mapping[str, str]) -> None:
        text = json.dumps({"name": name, "config": {"value.converter": STRING, **config}})
        (self.folder / f"{name}.json").write_text(text)

    def add(self, number: int) -> None:
        for name in self.names:
            with (self.folder.parent / f"{name}.txt").open("a") as lines:
                lines.write(f"{name}-{number}\n")


def kill_job(blocked: Path) -> threading.Thread:
    """Kill the job as soon as it is at the failpoint."""

    def kill() -> None:
        deadline = time.monotonic() + 200
        while not blocked.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        for process in psutil.Process().children(recursive=True):
            if "connector_job.py" in command_of(process):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        blocked.unlink(missing_ok=True)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def events_of(topic: str) -> list[dict[str, Any]]:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        of_topic = AssetEvent.asset_id.in_(select(AssetModel.id).where(AssetModel.uri == topic_asset(topic).uri))
        return [event.extra for event in session.scalars(select(AssetEvent).where(of_topic))]


@needs_airflow_3_3
@pytest.mark.spark_submit
@pytest.mark.timeout(500)
def test_a_retry_runs_what_was_lost_and_later_all_of_it_succeeds(
    airflow_database: Path,
    connections: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shop, blocked, noted = Shop(tmp_path / "connectors"), tmp_path / "blocked", tmp_path / "noted.json"
    monkeypatch.setenv("NOTED", str(noted))
    text = _DAG.format(dag_id=unique("group"), folder=str(shop.folder), blocked=blocked)
    dag = add_dag(tmp_path / "dags", text)

    killer = kill_job(blocked)
    run = dag.test()
    killer.join()

    first, second = map(json.loads, noted.read_text().splitlines())
    assert run.state == "failed"
    assert [(each["try"], {failure["connector"] for failure in each["failures"]}) for each in (first, second)] == [
        (1, {shop.wrong, shop.sink}),
        (2, {shop.wrong}),
    ]
    attempts = {name: report["run_id"].rpartition("#")[2] for name, report in second["reports"].items()}
    assert attempts == {**dict.fromkeys(shop.names, "1"), shop.sink: "2"}
    assert sorted(shop.out.read_text().splitlines()) == sorted(f"{name}-1" for name in shop.names)

    shop.put(
        shop.wrong,
        {"connector.class": "FileStreamSource", "file": f"{tmp_path}/{shop.names[0]}.txt", "topic": shop.wrong},
    )
    shop.add(2)
    run = dag.test()

    assert run.state == "success"
    moved = {name: report["records"]["written"] for name, report in report_of(run, "move").items()}
    assert moved == {**dict.fromkeys(shop.names, 1), shop.sink: 3, shop.wrong: 2}
    assert [[event["records"]["written"] for event in events_of(name)] for name in (*shop.names, shop.wrong)] == [
        [1],
        [1],
        [1],
        [2],
    ]


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(500)
def test_the_example_moves_what_two_sources_read_to_their_sink(
    airflow_database: Path, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER", str(tmp_path))
    for region in ("east", "west"):
        (tmp_path / f"{region}.txt").write_text(f"{region} 1\n{region} 2\n")

    run = DagBag().dags["example_group"].test()

    assert run.state == "success"
    assert {name: report["records"]["written"] for name, report in report_of(run, "regions").items()} == {
        "example-east-source": 2,
        "example-west-source": 2,
        "example-regions-sink": 4,
    }
