"""Queries the status of an application from YARN's ResourceManager, and ends it, without blocking an event loop."""

from __future__ import annotations

import re
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus

if TYPE_CHECKING:
    import httpx

ADDRESS_EXTRA = "yarn_resourcemanager_webapp_address"

_OUTCOMES = {"SUCCEEDED": JobOutcome.SUCCEEDED, "FAILED": JobOutcome.FAILED, "KILLED": JobOutcome.KILLED}
_ENDED = ("FINISHED", "FAILED", "KILLED")
# What Spark's application master reports for a driver that ended by itself. Other exit codes in the diagnostics are
# YARN's.
_DRIVER_EXIT = re.compile(r"User application exited with status (\d+)")
_MOST_OF_REASON = 1000


def application_status(app: dict[str, Any]) -> JobStatus:
    """The answer to `GET /ws/v1/cluster/apps/{id}`, without its envelope, in our vocabulary.

    :raises KeyError: it is not such an answer.
    """
    state, final = str(app["state"]), str(app["finalStatus"])
    reason = str(app.get("diagnostics") or "").strip()[:_MOST_OF_REASON]
    log = str(app.get("amContainerLogs") or app.get("trackingUrl") or "")
    if state not in _ENDED:
        return JobStatus(state, log=log)
    # A killed application is FAILED or KILLED, whatever status it reported before.
    outcome = _OUTCOMES.get(final if state == "FINISHED" else state, JobOutcome.FAILED)
    return JobStatus(f"{state}/{final}", outcome, driver_exit_code(reason), reason, log)


def driver_exit_code(diagnostics: str) -> int | None:
    """Exit code of a driver that ended by itself, from YARN's diagnostics; None if they contain none."""
    exited = _DRIVER_EXIT.search(diagnostics)
    return int(exited[1]) if exited else None


class YarnResourceManager:
    """The REST API of a ResourceManager; used with `async with`.

    :param address: `http(s)://host:port`, or `host:port`.
    :param timeout_s: for each answer.
    """

    def __init__(self, address: str, timeout_s: float = 30.0) -> None:
        self.address = (address if "://" in address else f"http://{address}").rstrip("/")
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None

    @classmethod
    async def of_connection(cls, conn_id: str) -> YarnResourceManager:
        """The ResourceManager of a Spark connection.

        :raises ConfigError: the connection does not name it.
        """
        connection = await BaseHook.aget_connection(conn_id)
        address = str(connection.extra_dejson.get(ADDRESS_EXTRA) or "").strip()
        if not address:
            raise ConfigError(
                {"spark_conn_id": [f"Spark connection `{conn_id}` has no extra `{ADDRESS_EXTRA}`, e.g. http://rm:8088"]}
            )
        return cls(address)

    async def __aenter__(self) -> YarnResourceManager:
        import httpx

        # A standby ResourceManager redirects to the active one.
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(self._timeout_s, connect=5.0), follow_redirects=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None
        await self._client.aclose()

    async def status(self, application_id: str) -> JobStatus:
        """The status of the application.

        :raises ClusterManagerUnavailableError: no answer, or one that says nothing about it.
        """
        answer = await self._ask("GET", application_id)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return JobStatus("NOT_FOUND", JobOutcome.LOST, reason=f"{self.address} does not know it (any more)")
        if answer.status_code != HTTPStatus.OK:
            raise ClusterManagerUnavailableError(f"{self.address} answered with HTTP {answer.status_code}")
        try:
            return application_status(answer.json()["app"])
        except (ValueError, KeyError, TypeError) as error:
            raise ClusterManagerUnavailableError(
                f"{self.address} answered with something else than an application"
            ) from error

    async def kill(self, application_id: str) -> None:
        """Request the end of the application; it is not an error if it has already ended.

        :raises ClusterManagerUnavailableError: the request was not accepted.
        """
        answer = await self._ask("PUT", f"{application_id}/state", {"state": "KILLED"})
        if not answer.is_success and answer.status_code != HTTPStatus.NOT_FOUND:
            raise ClusterManagerUnavailableError(f"{self.address} refused to end it: HTTP {answer.status_code}")

    async def _ask(self, method: str, path: str, body: dict[str, str] | None = None) -> httpx.Response:
        import httpx

        assert self._client is not None
        try:
            return await self._client.request(method, f"{self.address}/ws/v1/cluster/apps/{path}", json=body)
        except httpx.HTTPError as error:
            raise ClusterManagerUnavailableError(
                f"{self.address} does not answer: {type(error).__name__} {error}"
            ) from error
