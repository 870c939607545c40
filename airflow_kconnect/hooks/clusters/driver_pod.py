"""Queries the status of a driver's pod from Kubernetes, reads the end of its log, and deletes it, without blocking."""

from __future__ import annotations

import contextlib
from http import HTTPStatus
from types import TracebackType
from typing import Any

from airflow.providers.common.compat.sdk import conf

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.runs.events import parse_event

_SECTION = "kubernetes_executor"
_PACKAGE = "apache-airflow-providers-cncf-kubernetes"
# The report is a driver's last line, and less time passes between its end and this request than between two polls.
_LAST_LOG_S = 600
_OUTCOMES = {"Succeeded": JobOutcome.SUCCEEDED, "Failed": JobOutcome.FAILED}


class DriverPods:
    """Driver pods on Kubernetes, reached as in the Spark provider (`[kubernetes_executor]` in airflow.cfg).

    Used with `async with`. Jobs are named `namespace:pod`.

    :param token: that of the run spec, the prefix of each event of the job; without it no event is read.
    :raises ConfigError: the Kubernetes provider is not installed.
    """

    def __init__(self, token: str | None = None) -> None:
        self._token = token
        try:
            from airflow.providers.cncf.kubernetes.hooks.kubernetes import AsyncKubernetesHook
        except ImportError as error:
            raise missing_provider() from error
        extras = {
            "in_cluster": conf.getboolean(_SECTION, "in_cluster", fallback=True),
            "cluster_context": conf.get(_SECTION, "cluster_context", fallback=None),
            "kube_config_path": conf.get(_SECTION, "config_file", fallback=None),
        }
        if extras["in_cluster"]:
            extras["kube_config_path"] = None
        self._hook: Any = AsyncKubernetesHook(connection_extras=extras)

    async def __aenter__(self) -> DriverPods:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def status(self, job_id: str) -> JobStatus:
        """The driver's status; once it has ended, including its final output.

        :raises ClusterManagerUnavailableError: Kubernetes does not answer.
        """
        namespace, name = job_id.split(":", 1)
        log = f"kubectl logs --namespace {namespace} {name}"
        try:
            pod = await self._hook.get_pod(name=name, namespace=namespace)
        except Exception as error:
            if getattr(error, "status", None) == HTTPStatus.NOT_FOUND:
                return JobStatus("NotFound", JobOutcome.LOST, reason="there is no such pod (any more)")
            raise ClusterManagerUnavailableError(f"Kubernetes does not answer: {in_one_line(error)}") from error
        phase = pod.status.phase or "Pending"
        if phase not in _OUTCOMES:
            return JobStatus(phase, log=log)
        events = await self._last_events(namespace, name)
        code, reason = _end_of(pod)
        report = (events.get("report") or {}).get("report")
        return JobStatus(phase, _OUTCOMES[phase], code, reason, log, report, events.get("error"))

    async def kill(self, job_id: str) -> None:
        """Delete the driver's pod; Kubernetes deletes its executors with it. It is not an error if it is already gone.

        :raises ClusterManagerUnavailableError: the request was not accepted.
        """
        namespace, name = job_id.split(":", 1)
        try:
            await self._hook.delete_pod(name=name, namespace=namespace)
        except Exception as error:
            raise ClusterManagerUnavailableError(
                f"Kubernetes refused to delete the pod: {in_one_line(error)}"
            ) from error

    async def _last_events(self, namespace: str, name: str) -> dict[str, dict[str, Any]]:
        """Events by name. Without permission to read logs there are none, and only the exit code is known.

        Those of a group's connectors are left out: of most of them the end of the log would not have any.
        """
        lines: list[str] = []
        with contextlib.suppress(Exception):
            lines = await self._hook.read_logs(name=name, namespace=namespace, since_seconds=_LAST_LOG_S)
        # Each line begins with Kubernetes' timestamp.
        events = (parse_event(line.partition(" ")[2], self._token) for line in lines)
        own = [event for event in events if event is not None and event.get("connector") is None]
        return {str(event["event"]): event for event in own if event.get("event") in ("report", "error")}


def missing_provider() -> ConfigError:
    """The error for a missing Kubernetes package."""
    return ConfigError(
        {"spark_conn_id": [f"a master k8s://... needs a package that is missing: pip install {_PACKAGE}"]}
    )


def _end_of(pod: Any) -> tuple[int | None, str]:
    for container in pod.status.container_statuses or ():
        ended = container.state.terminated if container.state else None
        if ended is not None:
            return int(ended.exit_code), str(ended.message or ended.reason or "")
    return None, str(pod.status.reason or "")
