"""Links of connector tasks in Airflow's UI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.sdk import BaseOperatorLink

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import TaskInstanceKey
    from airflow.sdk import BaseOperator


class SparkUiLink(BaseOperatorLink):
    """Spark's own UI of the job; on YARN the application's page.

    The task stores the address as soon as the job has said it. When the task has ended Airflow asks `get_link`, and
    stores that instead: a driver's UI is gone by then, a page of YARN stays.
    """

    name = "Spark UI"

    def get_link(self, operator: BaseOperator, *, ti_key: TaskInstanceKey) -> str:
        return getattr(operator, "tracking_url", None) or ""
