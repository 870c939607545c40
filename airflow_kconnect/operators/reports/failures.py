"""What a failed task leaves about its connector: Airflow keeps what a task returns only if it succeeds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Context

FAILURE = "kconnect_failure"
"""Key of the XCom of a failed attempt; Airflow removes it when the task runs again."""

_MOST_OF_MESSAGE = 4_000

log = logging.getLogger(__name__)


def leave_failure(context: Context, facts: Mapping[str, Any], report: Mapping[str, Any] | None) -> None:
    """Called as a task fails, with secrets masked; that it cannot be stored must not hide the error.

    :param report: of a run that failed after it had committed what it moved, because of its warnings.
    """
    try:
        value = {**facts, "message": str(facts["message"])[:_MOST_OF_MESSAGE], "report": report}
        context["ti"].xcom_push(key=FAILURE, value=value)
    except Exception as error:
        log.warning("The failure could not be stored for the run's tab: %s", error)
