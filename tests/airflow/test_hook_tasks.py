"""The hook in `@task` functions: the DAGs of the guide about operations, in Airflow itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import KafkaConnectHook
from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.kafka import produce
from tests.support.pages.markdown import REPOSITORY, blocks
from tests.support.positions import commit, produce_at

PAGE = REPOSITORY / "docs" / "guides" / "operations.md"

MakeTopic = Callable[..., str]


@pytest.fixture
def sink(bootstrap: str, topic: MakeTopic, tmp_path: Path, connections: None) -> dict[str, str]:
    """The sink of the guide, in a file next to the DAGs."""
    config = {
        "name": unique("orders"),
        "connector.class": "DirectorySink",
        "topics": topic(),
        "directory": str(tmp_path),
    }
    (tmp_path / "orders-sink.json").write_text(json.dumps(config))
    return config


def dag_of_the_guide(dag_id: str, folder: Path) -> Any:
    """A DAG as it is on the page, from a file in a folder."""
    (block,) = [block for block in blocks(PAGE) if block.info == "python" and f'DAG("{dag_id}"' in block.text]
    return add_dag(folder, block.text)


@pytest.mark.timeout(300)
def test_a_task_moves_the_offsets_of_a_sink_back(
    airflow_database: Path, bootstrap: str, sink: dict[str, str], tmp_path: Path
) -> None:
    produce(bootstrap, sink["topics"], [str(n) for n in range(150)])
    commit(bootstrap, f"connect-{sink['name']}", {(sink["topics"], 0): 150})

    run = dag_of_the_guide("rewind_orders", tmp_path).test()

    assert str(run.state) == "success"
    (offset,) = KafkaConnectHook().offsets(sink)
    assert offset["offset"] == {"kafka_offset": 50}
    assert KafkaConnectHook().state(sink) == "STARTED"


@pytest.mark.timeout(300)
def test_a_sink_with_little_to_write_is_skipped(
    airflow_database: Path, bootstrap: str, sink: dict[str, str], tmp_path: Path
) -> None:
    produce(bootstrap, sink["topics"], ["a"])

    run = dag_of_the_guide("write_orders", tmp_path).test()

    states = {ti.task_id: str(ti.state) for ti in run.get_task_instances()}
    assert states == {"enough_to_write": "success", "write": "skipped"}


def test_a_record_that_waits_for_an_hour_is_enough(
    airflow_database: Path, bootstrap: str, sink: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no task, no folder of a DAG
    produce_at(bootstrap, sink["topics"], [int((time.time() - 3700) * 1000)])

    assert dag_of_the_guide("write_orders", tmp_path).task_dict["enough_to_write"].python_callable() is True
