"""A source task's `poll` that is called again after a temporary failure, as ``errors.retry.*`` say."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence

from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.errors import NextRunError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runtime.retries import Retries

log = logging.getLogger("kconnect.source")

# As often as this the caller can pass on what was polled before, and hear of commits.
_LOOK_S = 0.2


class RetriedPoll:
    """Connect polls again at once, and without end: it does not use ``TASK_POLL``. Here the two keys bound it.

    :param until_s: when the run's time is over, on the clock of `time.monotonic`; None: it has no limit.
    """

    def __init__(self, task: SourceTask, retries: Retries, until_s: float | None) -> None:
        self._task, self._retries = task, retries
        self._until_s = math.inf if until_s is None else until_s
        self._attempt, self._first_s, self._next_s = 1, 0.0, 0.0

    @property
    def waits(self) -> bool:
        """Whether the last call was for nothing: the task's `poll` has not returned."""
        return self._attempt > 1

    def __call__(self) -> Sequence[SourceRecord] | None:
        """As `SourceTask.poll`; no records while it waits. :raises RetriableError: the task's, if it lasts too long."""
        wait_s = self._next_s - time.monotonic()
        if wait_s > 0:
            time.sleep(min(wait_s, _LOOK_S))
            return ()
        if self._attempt == 1:
            self._first_s = time.monotonic()
        try:
            polled = self._task.poll()
        except NextRunError:
            raise
        except RetriableError as error:
            self._wait(error)
            return ()
        self._attempt = 1
        return polled

    def _wait(self, error: RetriableError) -> None:
        pause_s = self._retries.pause_s(self._attempt, self._first_s, self._until_s)
        if pause_s is None:
            raise error
        log.warning("attempt %s to poll failed, the next one is in %.1f s: %s", self._attempt, pause_s, error)
        self._attempt, self._next_s = self._attempt + 1, time.monotonic() + pause_s
