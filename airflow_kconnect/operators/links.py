"""Links of connector tasks in Airflow's UI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.sdk import BaseOperatorLink

from airflow_kconnect.runbooks import runbook_url

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import TaskInstanceKey
    from airflow.sdk import BaseOperator


class SparkUiLink(BaseOperatorLink):
    """Spark's own UI for the job, if it is enabled; on YARN the application's page.

    The task stores the address as soon as the job has reported it. When the task has ended, Airflow calls `get_link`
    and stores that instead: a driver's UI is gone by then, a YARN page stays.
    """

    name = "Spark UI"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        return getattr(operator, "tracking_url", None) or ""


class RunbookLink(BaseOperatorLink):
    """The documentation page about the error with which a task has failed; no link if there is none."""

    name = "Runbook"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        return runbook_url(getattr(operator, "failure_text", None) or "") or ""
