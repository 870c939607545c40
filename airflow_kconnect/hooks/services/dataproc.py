"""Spark jobs on Google's Dataproc: batches, for which Google provides machines, and jobs of a cluster.

Google's own client is used: Airflow's Google provider brings along a hundred packages more.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, ClassVar

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob, missing_package
from airflow_kconnect.hooks.services.google import GoogleExtras, GoogleService

# A trigger that waits for the job repeats a request without an answer, and logs that it does.
_ONCE: dict[str, Any] = {"retry": None, "timeout": 60}
_NOT_IN_LABELS = re.compile(r"[^-_a-z0-9]")
_OTHER_MASTERS = ("spark.yarn.", "spark.kubernetes.")


class DataprocExtras(GoogleExtras):
    """Extras of the Spark connection of a cluster.

    :param labels: of each job.
    :param api_endpoint: of Dataproc's API; the public one of the region if not given.
    """

    labels: dict[str, str] = {}
    api_endpoint: str | None = None


class BatchExtras(DataprocExtras):
    """Extras of the Spark connection of batches.

    :param runtime_version: Google's, with the Spark that runs the job. :param container_image: with what Python needs.
    :param service_account: of the job; Google's default for the runtime if not given.
    :param subnetwork_uri: in which the job runs; the project's default if not given.
    """

    runtime_version: str = "3.0"
    container_image: str | None = None
    service_account: str | None = None
    subnetwork_uri: str | None = None


class _Dataproc(GoogleService):
    package: ClassVar[str] = "google-cloud-dataproc"
    extras_class: ClassVar[type[ServiceExtras]] = DataprocExtras
    extras: DataprocExtras
    form: ClassVar[str]
    """What follows the scheme."""

    def check(self) -> None:
        parts = self.address.split("/")
        if len(parts) != len(self.form.split("/")) or not all(parts):
            text = (
                f"names nothing of {self.title}: {self.scheme}://{self.address}, expected {self.scheme}://{self.form}"
            )
            raise ConfigError({"spark_conn_id": [text]})

    @property
    def _project(self) -> str:
        return self.address.split("/")[0]

    @property
    def _region(self) -> str:
        return self.address.split("/")[1]

    def _new_client(self) -> Any:
        try:
            from google.cloud import dataproc_v1
        except ImportError as error:
            raise missing_package(type(self)) from error
        endpoint = self.extras.api_endpoint or f"{self._region}-dataproc.googleapis.com"
        return self._class_of_client(dataproc_v1)(
            credentials=self._credentials(),
            transport="rest",
            client_options={"api_endpoint": endpoint},
        )

    @abstractmethod
    def _class_of_client(self, dataproc: Any) -> Any:
        """In Google's package."""


class DataprocBatches(_Dataproc):
    """Dataproc Serverless: host ``dataproc-serverless://<project>/<region>``."""

    scheme: ClassVar[str] = "dataproc-serverless"
    title: ClassVar[str] = "Dataproc Serverless"
    form: ClassVar[str] = "project/region"
    extras_class: ClassVar[type[ServiceExtras]] = BatchExtras
    extras: BatchExtras
    outcomes: ClassVar[dict[str, JobOutcome]] = {
        "SUCCEEDED": JobOutcome.SUCCEEDED,
        "FAILED": JobOutcome.FAILED,
        "CANCELLED": JobOutcome.KILLED,
    }

    def _class_of_client(self, dataproc: Any) -> Any:
        return dataproc.BatchControllerClient

    @property
    def _parent(self) -> str:
        return f"projects/{self._project}/locations/{self._region}"

    def _start(self, job: ServiceJob) -> str:
        batch_id = f"kconnect-{job.request}"
        properties = {key: value for key, value in job.settings.items() if not key.startswith(_OTHER_MASTERS)}
        if safe_path := properties.get("spark.executorEnv.PYTHONSAFEPATH"):
            properties.setdefault("spark.dataproc.driverEnv.PYTHONSAFEPATH", safe_path)
        runtime = {"version": self.extras.runtime_version, "container_image": self.extras.container_image}
        execution = _given({"subnetwork_uri": self.extras.subnetwork_uri})
        if account := self.extras.service_account:  # by default runtime 3.0 has the login of the worker
            as_account = {"user_workload_authentication_type": "SERVICE_ACCOUNT"}
            execution |= {"service_account": account, "authentication_config": as_account}
        batch = {
            "pyspark_batch": _application(job),
            "labels": _labels(job, self.extras.labels),
            "runtime_config": {**_given(runtime), "properties": properties},
            "environment_config": {"execution_config": execution},
        }
        request = {"parent": self._parent, "batch": batch, "batch_id": batch_id, "request_id": job.request}
        self._client.create_batch(request=request, **_ONCE)
        return batch_id

    def _describe(self, job_id: str) -> JobStatus:
        batch = self._get(job_id)
        state = batch.state.name
        log = (
            batch.runtime_info.output_uri
            or f"gcloud dataproc batches wait {job_id} --project {self._project} --region {self._region}"
        )
        return JobStatus(state, self.outcomes.get(state), reason=batch.state_message, log=log)

    def _cancel(self, job_id: str) -> None:
        self._client.cancel_operation(request={"name": self._get(job_id).operation}, **_ONCE)

    def _get(self, job_id: str) -> Any:
        return self._client.get_batch(request={"name": f"{self._parent}/batches/{job_id}"}, **_ONCE)


class DataprocCluster(_Dataproc):
    """A cluster of Dataproc: host ``dataproc://<project>/<region>/<cluster>``."""

    scheme: ClassVar[str] = "dataproc"
    title: ClassVar[str] = "Dataproc"
    form: ClassVar[str] = "project/region/cluster"
    outcomes: ClassVar[dict[str, JobOutcome]] = {
        "DONE": JobOutcome.SUCCEEDED,
        "ERROR": JobOutcome.FAILED,
        "CANCELLED": JobOutcome.KILLED,
    }

    def _class_of_client(self, dataproc: Any) -> Any:
        return dataproc.JobControllerClient

    @property
    def _place(self) -> dict[str, str]:
        return {"project_id": self._project, "region": self._region}

    def _start(self, job: ServiceJob) -> str:
        job_id = f"kconnect-{job.request}"
        asked = {
            "reference": {"project_id": self._project, "job_id": job_id},
            "placement": {"cluster_name": self.address.split("/")[2]},
            "labels": _labels(job, self.extras.labels),
            "pyspark_job": {**_application(job), "properties": job.settings},
        }
        self._client.submit_job(request={**self._place, "job": asked, "request_id": job.request}, **_ONCE)
        return job_id

    def _describe(self, job_id: str) -> JobStatus:
        job = self._client.get_job(request={**self._place, "job_id": job_id}, **_ONCE)
        state = job.status.state.name
        return JobStatus(state, self.outcomes.get(state), reason=job.status.details, log=job.driver_output_resource_uri)

    def _cancel(self, job_id: str) -> None:
        self._client.cancel_job(request={**self._place, "job_id": job_id}, **_ONCE)


def _application(job: ServiceJob) -> dict[str, Any]:
    return {
        "main_python_file_uri": job.application,
        "args": list(job.arguments),
        "python_file_uris": list(job.py_files),
        "jar_file_uris": list(job.jars),
        "file_uris": list(job.files),
        "archive_uris": list(job.archives),
    }


def _labels(job: ServiceJob, labels: dict[str, str]) -> dict[str, str]:
    return {"kconnect": _NOT_IN_LABELS.sub("-", job.name.lower())[:63], **labels}


def _given(values: dict[str, str | None]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
