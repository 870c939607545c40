"""Services that are asked by a client: made once, with errors of its own, of which one says that a job is gone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService


class RefusedRequestError(ConfigError):
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
        with self._asking():
            return self._start(job)

    def status(self, job_id: str) -> JobStatus:
        try:
            with self._asking():
                return self._describe(job_id)
        except RefusedRequestError as error:
            if not error.gone:
                raise
            return JobStatus("NOT_FOUND", JobOutcome.LOST, reason=f"{self.title} does not know it (any more)")

    def end(self, job_id: str) -> None:
        try:
            with self._asking():
                self._cancel(job_id)
        except RefusedRequestError:
            if self.status(job_id).outcome is None:
                raise

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """After an error the next request has a new client: the login may have been renewed."""
        try:
            with self._errors():
                yield
        except Exception:
            self.__dict__.pop("_client", None)
            raise

    @cached_property
    def _client(self) -> Any:
        """One for all requests: a trigger asks every few seconds."""
        return self._new_client()

    @abstractmethod
    def _new_client(self) -> Any:
        """Log in. :raises ConfigError: a package or the connection is missing."""

    def _errors(self) -> AbstractContextManager[None]:
        """Errors of the client become ours: a `RefusedRequestError`, another `ConfigError`, or no answer."""
        return nullcontext()

    @abstractmethod
    def _start(self, job: ServiceJob) -> str:
        """Start a job; returns its id."""

    @abstractmethod
    def _describe(self, job_id: str) -> JobStatus:
        """How a job is doing."""

    @abstractmethod
    def _cancel(self, job_id: str) -> None:
        """Request the end of a job."""
