"""Spark jobs on Amazon EMR Serverless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob, SparkService, missing_package

_APPLICATION = re.compile(r"[0-9a-z]+")
_OUTCOMES = {"SUCCESS": JobOutcome.SUCCEEDED, "FAILED": JobOutcome.FAILED, "CANCELLED": JobOutcome.KILLED}
_GONE = "ResourceNotFoundException"
_REFUSED = ("ValidationException", "AccessDeniedException", "ConflictException", _GONE)
_DRIVER_ENVIRONMENT = "spark.emr-serverless.driverEnv."


class EmrServerlessExtras(ServiceExtras):
    """Extras of its Spark connection.

    :param execution_role_arn: the role of the job.
    :param aws_conn_id: Airflow connection with the worker's login; its provider's default if not given.
    :param log_uri: folder of S3 into which EMR copies the logs of jobs.
    :param tags: of each job run.
    """

    execution_role_arn: str
    aws_conn_id: str = "aws_default"
    log_uri: str | None = None
    tags: dict[str, str] = {}


class EmrServerless(SparkService):
    """An application of EMR Serverless: host ``emr-serverless://<application id>``."""

    scheme: ClassVar[str] = "emr-serverless"
    title: ClassVar[str] = "EMR Serverless"
    package: ClassVar[str] = "apache-airflow-providers-amazon"
    extras_class: ClassVar[type[ServiceExtras]] = EmrServerlessExtras
    extras: EmrServerlessExtras

    @property
    def staging_conn_id(self) -> str | None:
        return self.extras.staging_conn_id or self.extras.aws_conn_id

    def check(self) -> None:
        if not _APPLICATION.fullmatch(self.address):
            text = f"names no application of EMR Serverless: emr-serverless://{self.address}, expected its id"
            raise ConfigError({"spark_conn_id": [text]})

    def start(self, job: ServiceJob) -> str:
        properties = job.properties()
        if "spark.executorEnv.PYTHONSAFEPATH" in properties:
            properties.setdefault(f"{_DRIVER_ENVIRONMENT}PYTHONSAFEPATH", "1")
        # As properties, and not as options of spark-submit, they need no quotes.
        overrides: dict[str, Any] = {
            "applicationConfiguration": [{"classification": "spark-defaults", "properties": properties}]
        }
        if self.extras.log_uri:
            overrides["monitoringConfiguration"] = {"s3MonitoringConfiguration": {"logUri": self.extras.log_uri}}
        submit = {"entryPoint": job.application, "entryPointArguments": list(job.arguments)}
        with self._asked() as client:
            answer = client.start_job_run(
                applicationId=self.address,
                clientToken=job.request,
                executionRoleArn=self.extras.execution_role_arn,
                name=job.name[:64],
                jobDriver={"sparkSubmit": submit},
                configurationOverrides=overrides,
                tags=self.extras.tags,
            )
        return str(answer["jobRunId"])

    def status(self, job_id: str) -> JobStatus:
        try:
            with self._asked() as client:
                run = client.get_job_run(applicationId=self.address, jobRunId=job_id)["jobRun"]
        except _Gone:
            return JobStatus("NOT_FOUND", JobOutcome.LOST, reason="EMR Serverless does not know it (any more)")
        state = str(run["state"])
        return JobStatus(state, _OUTCOMES.get(state), reason=str(run.get("stateDetails") or ""), log=self._log(job_id))

    def end(self, job_id: str) -> None:
        try:
            with self._asked() as client:
                client.cancel_job_run(applicationId=self.address, jobRunId=job_id)
        except ConfigError:
            if self.status(job_id).outcome is None:
                raise

    def _log(self, job_id: str) -> str:
        if self.extras.log_uri:
            run = f"applications/{self.address}/jobs/{job_id}/SPARK_DRIVER"
            return f"{self.extras.log_uri.rstrip('/')}/{run}/"
        command = "aws emr-serverless get-dashboard-for-job-run"
        return f"{command} --application-id {self.address} --job-run-id {job_id}"

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """The client of the provider's hook; errors of AWS become ours."""
        try:
            from airflow.providers.amazon.aws.hooks.emr import EmrServerlessHook
        except ImportError as error:
            raise missing_package(type(self)) from error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield EmrServerlessHook(aws_conn_id=self.extras.aws_conn_id).conn
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _REFUSED:
                refused = _Gone if code == _GONE else ConfigError
                raise refused({"spark_conn_id": [f"EMR Serverless refuses: {in_one_line(error)}"]}) from error
            raise ClusterManagerUnavailableError(f"EMR Serverless does not answer: {in_one_line(error)}") from error
        except BotoCoreError as error:
            raise ClusterManagerUnavailableError(f"EMR Serverless does not answer: {in_one_line(error)}") from error


class _Gone(ConfigError):
    """There is no such job run, or no such application."""
