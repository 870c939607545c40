"""A source operator, the context of its task, and the report of its job."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.runs.report import RunReport

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}
SOURCE = {"name": "lines", "config": CONFIG}
REPORT = RunReport(connector="lines", kind="source", connector_class="C", run_id="r", records={"written": 7}).as_dict()


def source(**parameters: Any) -> KafkaSourceOperator:
    """The operator of `SOURCE`; parameters replace or add."""
    return KafkaSourceOperator(**{"task_id": "read", "connector": SOURCE} | parameters)


def context(**dag_run: Any) -> Any:
    """The context of a second try."""
    ti = SimpleNamespace(
        dag_id="d", task_id="t", run_id="manual__1", map_index=-1, try_number=2, stats_tags={}, start_date=None
    )
    return {"ti": ti, "dag_run": SimpleNamespace(**{"clear_number": 0, "run_type": "manual"} | dag_run)}
