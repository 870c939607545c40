"""Spark jobs on Databricks, on clusters in dedicated access mode: only there a job has Spark's JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.asked import AskedService, RefusedRequestError
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob, missing_package
from airflow_kconnect.hooks.services.databricks_settings import ClusterSettings

if TYPE_CHECKING:
    from airflow.providers.databricks.hooks.databricks import DatabricksHook

_NEW = "new"
_CLUSTER_ID = re.compile(r"[0-9A-Za-z-]+")
_STORES = ("s3://", "abfss://", "gs://")
_RUNTIME = re.compile(r"(\d+)\.(\d+)\.")
_FIRST_RUNTIME = 17
_DEDICATED = "SINGLE_USER"
_WITHOUT_JVM = (
    "USER_ISOLATION",
    "DATA_SECURITY_MODE_STANDARD",
    "DATA_SECURITY_MODE_AUTO",
    "LEGACY_TABLE_ACL",
    "LEGACY_PASSTHROUGH",
)
_ENDED = ("TERMINATED", "SKIPPED", "INTERNAL_ERROR")
_OUTCOMES = {"SUCCESS": JobOutcome.SUCCEEDED, "CANCELED": JobOutcome.KILLED}
_GONE = re.compile(r"Run:? .* (does not|doesn't) exist")


class NewCluster(BaseModel):
    """Databricks' description of a cluster; what is not named here is passed on as it is."""

    model_config = ConfigDict(extra="allow")

    spark_version: str | None = None
    data_security_mode: str | None = None
    spark_conf: dict[str, str] = {}
    spark_env_vars: dict[str, str] = {}


class DatabricksExtras(ServiceExtras):
    """Extras of its Spark connection.

    :param databricks_conn_id: Airflow connection with the worker's login; its provider's default if not given.
    :param new_cluster: the cluster of each run, for host ``databricks://new``.
    :param libraries: what Databricks installs on the cluster for the job.
    """

    databricks_conn_id: str = "databricks_default"
    new_cluster: NewCluster | None = None
    libraries: list[dict[str, Any]] = [
        {"pypi": {"package": "confluent-kafka>=2.6"}},
        {"pypi": {"package": "httpx>=0.27"}},
    ]


class Databricks(AskedService):
    """A cluster of Databricks: host ``databricks://<cluster id>``, or ``databricks://new`` for one of each run."""

    scheme: ClassVar[str] = "databricks"
    title: ClassVar[str] = "Databricks"
    package: ClassVar[str] = "apache-airflow-providers-databricks"
    extras_class: ClassVar[type[ServiceExtras]] = DatabricksExtras
    job_file: ClassVar[str] = "databricks_job.py"
    extras: DatabricksExtras

    def check(self) -> None:
        if texts := list(self._wrong()):
            raise ConfigError({"spark_conn_id": texts})

    def _wrong(self) -> Iterator[str]:
        if not self.extras.staging.startswith(_STORES):
            yield f"extra `staging`: Databricks reads jobs from {', '.join(_STORES)}, not from {self.extras.staging}"
        if not _CLUSTER_ID.fullmatch(self.address):
            yield f"names no cluster of Databricks: databricks://{self.address}, expected its id, or databricks://new"
        elif self.address != _NEW and self.extras.new_cluster is not None:
            yield "extra `new_cluster`: is for host databricks://new; the cluster that the host names is there already"
        elif self.address == _NEW:
            yield from _wrong_cluster(self.extras.new_cluster)

    def _start(self, job: ServiceJob) -> str:
        py_files = ["--py-files", ",".join(job.py_files)] if job.py_files else []
        settings = ClusterSettings.of(job)
        task = {
            "task_key": "kconnect",
            "spark_python_task": {"python_file": job.application, "parameters": [*py_files, *job.arguments]},
            "libraries": [*self.extras.libraries, *settings.libraries],
            **self._cluster(settings),
        }
        request = {"run_name": job.name, "idempotency_token": job.request, "tasks": [task]}
        return str(self._client.submit_run(request))

    def _cluster(self, settings: ClusterSettings) -> dict[str, Any]:
        if (new := self.extras.new_cluster) is None:
            settings.check_none_for(self.address)
            return {"existing_cluster_id": self.address}
        ours = {"spark_conf": settings.conf, "spark_env_vars": settings.environment}
        whole = new.model_copy(update={name: {**getattr(new, name), **values} for name, values in ours.items()})
        return {"new_cluster": whole.model_dump(exclude_defaults=True)}

    def _describe(self, job_id: str) -> JobStatus:
        run = self._client.get_run(int(job_id))
        state, log = run["state"], str(run.get("run_page_url") or "")
        if state["life_cycle_state"] not in _ENDED:
            return JobStatus(state["life_cycle_state"], log=log)
        result = str(state.get("result_state") or state["life_cycle_state"])
        outcome = _OUTCOMES.get(result, JobOutcome.FAILED)
        reason = self._error_of(run) if outcome is JobOutcome.FAILED else ""
        return JobStatus(result, outcome, reason=reason or str(state.get("state_message") or ""), log=log)

    def _error_of(self, run: dict[str, Any]) -> str:
        """What a run says, of which its state tells only that there was something; empty if that cannot be had."""
        with suppress(ConfigError), self._errors():
            for task in run.get("tasks", ()):
                return str(self._client.get_run_output(task["run_id"]).get("error") or "").partition("\n")[0]
        return ""

    def _cancel(self, job_id: str) -> None:
        self._client.cancel_run(int(job_id))

    def _new_client(self) -> DatabricksHook:
        try:
            from airflow.providers.databricks.hooks.databricks import DatabricksHook
        except ImportError as error:
            raise missing_package(type(self)) from error
        return DatabricksHook(self.extras.databricks_conn_id)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        from airflow.providers.common.compat.sdk import AirflowException, AirflowNotFoundException

        conn_id = self.extras.databricks_conn_id
        try:
            yield
        except AirflowNotFoundException as error:
            text = f"extra `databricks_conn_id`: there is no connection `{conn_id}`"
            raise ConfigError({"spark_conn_id": [text]}) from error
        except (AirflowException, OSError) as error:  # those of `requests` are OSErrors
            text = in_one_line(error)
            # Not its cause: older providers name none.
            if (response := getattr(error.__context__, "response", None)) is None:
                raise ClusterManagerUnavailableError(f"Databricks does not answer: {text}") from error
            gone = response.status_code == 404 or _GONE.search(text) is not None
            raise RefusedRequestError(f"Databricks refuses: {text}", gone=gone) from error
        except ValueError as error:
            raise ConfigError({"spark_conn_id": [f"connection `{conn_id}`: {in_one_line(error)}"]}) from error


def _wrong_cluster(cluster: NewCluster | None) -> Iterator[str]:
    if cluster is None:
        yield "extra `new_cluster` is missing: it describes the cluster of each run for host databricks://new"
        return
    runtime = _RUNTIME.match(cluster.spark_version or "")
    if runtime and int(runtime[1]) < _FIRST_RUNTIME:
        yield (
            f"extra `new_cluster.spark_version`: Databricks Runtime {runtime[1]}.{runtime[2]} has Spark 3; jobs need"
            f" Spark 4, so {_FIRST_RUNTIME}.0 or newer, such as 17.3.x-scala2.13"
        )
    if cluster.data_security_mode in _WITHOUT_JVM:
        yield (
            f"extra `new_cluster.data_security_mode`: a job has no Spark of its own in {cluster.data_security_mode};"
            f" jobs need dedicated access mode, {_DEDICATED}"
        )
