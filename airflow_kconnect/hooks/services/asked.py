"""Services that are asked by a client of their vendor: a request that is refused may be about a job that is gone."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService


class RefusedError(ConfigError):
    """A service refuses a request.

    :param text: with the service's own words. :param gone: whether it knows no such job (any more).
    """

    def __init__(self, text: str, *, gone: bool = False) -> None:
        self.gone = gone
        super().__init__({"spark_conn_id": [text]})

    def __reduce__(self) -> Any:
        return ConfigError, (self.errors,)


class AskedService(SparkService):
    """A service whose answers its client knows: each of them says what it asks, and what its errors mean."""

    def start(self, job: ServiceJob) -> str:
        with self._errors():
            return self._start(job)

    def status(self, job_id: str) -> JobStatus:
        try:
            with self._errors():
                return self._describe(job_id)
        except RefusedError as error:
            if not error.gone:
                raise
            return JobStatus("NOT_FOUND", JobOutcome.LOST, reason=f"{self.title} does not know it (any more)")

    def end(self, job_id: str) -> None:
        try:
            with self._errors():
                self._cancel(job_id)
        except RefusedError:
            if self.status(job_id).outcome is None:
                raise

    @abstractmethod
    def _errors(self) -> AbstractContextManager[None]:
        """Errors of the client become ours: a `RefusedError`, another `ConfigError`, or no answer."""

    @abstractmethod
    def _start(self, job: ServiceJob) -> str:
        """Start a job; returns its id."""

    @abstractmethod
    def _describe(self, job_id: str) -> JobStatus:
        """How a job is doing."""

    @abstractmethod
    def _cancel(self, job_id: str) -> None:
        """Request the end of a job."""
