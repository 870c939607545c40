"""A reference for deadlines of Airflow: how fresh the data is that a connector moves."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowOptionalProviderFeatureException

try:
    # `airflow.sdk` has it too, but not for type checkers.
    from airflow.sdk.definitions.deadline import BaseDeadlineReference
except ImportError:  # an Airflow below 3.3
    BaseDeadlineReference = object  # type: ignore[assignment, misc]

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

# Runs that are not complete are looked through this far back.
_MOST = 100

log = logging.getLogger(__name__)


@dataclass(eq=False)
class FreshBy(BaseDeadlineReference):
    """When the data was fresh: the start of a task's last run that succeeded, was complete, and was not a replay.

    .. code-block:: python

        DAG(
            "orders",
            deadline=DeadlineAlert(
                reference=FreshBy(task_id="read"), interval=timedelta(hours=2), callback=AsyncCallback(tell)
            ),
        )

    Airflow's scheduler asks for it as it creates a DAG run, and calls back if the run has not ended at that time plus
    `interval`: at once, if the data is older than that already. If the task has never had such a run, it is the time of
    the question. A task without a report, as in cluster deploy mode, counts as complete.

    :param task_id: a task with a connector.
    :param dag_id: its DAG. Default: that of the deadline; another one for a DAG that watches others.
    """

    task_id: str = ""
    dag_id: str | None = None

    required_kwargs = frozenset({"dag_id"})

    def __post_init__(self) -> None:
        """:raises AirflowOptionalProviderFeatureException: this Airflow has no such references."""
        if BaseDeadlineReference is object:
            from airflow import __version__

            text = f"FreshBy needs Airflow 3.3 or newer, and this is {__version__}. Leave the deadline out"
            raise AirflowOptionalProviderFeatureException(text)
        if not self.task_id:
            raise ValueError("`task_id` of FreshBy: name the task whose runs make the data fresh")

    def serialize_reference(self) -> dict[str, Any]:
        """As Airflow stores it with the DAG."""
        return {**super().serialize_reference(), "task_id": self.task_id, "dag_id": self.dag_id}

    @classmethod
    def deserialize_reference(cls, reference_data: dict[str, Any]) -> FreshBy:
        """What `serialize_reference` has made."""
        return cls(reference_data["task_id"], reference_data.get("dag_id"))

    def _evaluate_with(self, *, session: Session, dag_id: str, **_: Any) -> datetime:
        """Called by the scheduler, whose run must be created whatever is found here."""
        try:
            found = _last_fresh(self.dag_id or dag_id, self.task_id, session)
        except Exception:
            log.exception("How fresh task %s of DAG %s is cannot be found out", self.task_id, self.dag_id or dag_id)
            found = None
        return found or datetime.now(UTC)


def _last_fresh(dag_id: str, task_id: str, session: Session) -> datetime | None:
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XCOM_RETURN_KEY, XComModel
    from sqlalchemy import and_, select

    report = and_(
        XComModel.dag_id == TaskInstance.dag_id,
        XComModel.run_id == TaskInstance.run_id,
        XComModel.task_id == TaskInstance.task_id,
        XComModel.map_index == TaskInstance.map_index,
        XComModel.key == XCOM_RETURN_KEY,
    )
    query = (
        select(TaskInstance.start_date, XComModel.value)
        .join(XComModel, report, isouter=True)
        .where(TaskInstance.dag_id == dag_id, TaskInstance.task_id == task_id, TaskInstance.state == "success")
        .where(TaskInstance.start_date.is_not(None))
        .order_by(TaskInstance.start_date.desc())
        .limit(_MOST)
    )
    fresh = (start for start, value in session.execute(query) if _is_fresh(value))
    return next(fresh, None)


def _is_fresh(value: Any) -> bool:
    try:
        report = json.loads(value) if isinstance(value, str) else value
    except ValueError:  # of a backend of the installation's own
        return True
    if not isinstance(report, Mapping):
        return True
    # Of a group each member is a report. A dry run is never complete.
    own = report.get("complete") is not False and not report.get("replay")
    return own and all(_is_fresh(each) for each in report.values() if isinstance(each, Mapping) and "kind" in each)
