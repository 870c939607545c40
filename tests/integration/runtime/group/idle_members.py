"""Members of groups for tests of what has nothing new."""

from __future__ import annotations

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique


def member(config: dict[str, str], worker_props: dict[str, str], *, dry_run: bool = False) -> Member:
    """A member as a group's job makes it."""
    worker = WorkerConfig.from_props(worker_props)
    spec = RunSpec(config, worker_props, run_id=unique("run"), dry_run=dry_run)
    return Member(spec, worker, validate_connector(config, worker=worker))


def as_told(report: RunReport) -> dict[str, object]:
    """A report without what differs in each run."""
    return {name: value for name, value in report.as_dict().items() if name not in ("run_id", "durations_s")}
