"""What a failed task leaves about its connector: Airflow keeps what a task returns only if it succeeds."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Context

FAILURE = "kconnect_failure"
"""Key of the XCom of a failed attempt; Airflow removes it when the task runs again."""

_MOST_OF_MESSAGE, _LEAST_OF_MESSAGE = 4_000, 300
# If more connectors of a group have failed, their messages are cut shorter.
_WHOLE = 20

log = logging.getLogger(__name__)


def leave_failure(context: Context, facts: Mapping[str, Any], report: Mapping[str, Any] | None) -> None:
    """Called as a task fails, with secrets masked; that it cannot be stored must not hide the error.

    :param report: of a run that failed after it had committed what it moved, because of its warnings.
    """
    _leave(context, {**_cut(facts, _MOST_OF_MESSAGE), "report": report})


def leave_failures(
    context: Context, failures: Sequence[Mapping[str, Any]], reports: Mapping[str, Mapping[str, Any]]
) -> None:
    """`leave_failure` for the connectors of a group.

    :param reports: by connector, also of those that have succeeded.
    """
    most = max(_MOST_OF_MESSAGE // max(len(failures) // _WHOLE, 1), _LEAST_OF_MESSAGE)
    failed = {failure["connector"] for failure in failures}
    left = [{**_cut(failure, most), "report": reports.get(failure["connector"])} for failure in failures]
    _leave(context, left + [{"report": report} for name, report in reports.items() if name not in failed])


def _cut(facts: Mapping[str, Any], most: int) -> dict[str, Any]:
    return {**facts, "message": str(facts["message"])[:most]}


def _leave(context: Context, value: Any) -> None:
    try:
        context["ti"].xcom_push(key=FAILURE, value=value)
    except Exception as error:
        log.warning("The failure could not be stored for the run's tab: %s", error)
