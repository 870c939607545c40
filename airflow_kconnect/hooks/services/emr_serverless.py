"""Spark jobs on Amazon EMR Serverless."""

from __future__ import annotations

import re
from typing import ClassVar

from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.aws import AwsService, JobRunExtras
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob

_OUTCOMES = {"SUCCESS": JobOutcome.SUCCEEDED, "FAILED": JobOutcome.FAILED, "CANCELLED": JobOutcome.KILLED}
_DRIVER_ENVIRONMENT = "spark.emr-serverless.driverEnv."


class EmrServerless(AwsService):
    """An application of EMR Serverless: host ``emr-serverless://<application id>``."""

    scheme: ClassVar[str] = "emr-serverless"
    title: ClassVar[str] = "EMR Serverless"
    hook_class: ClassVar[str] = "EmrServerlessHook"
    form: ClassVar[re.Pattern[str]] = re.compile(r"[0-9a-z]+")
    named: ClassVar[str] = "application"
    extras_class: ClassVar[type[ServiceExtras]] = JobRunExtras
    extras: JobRunExtras

    def _start(self, job: ServiceJob) -> str:
        properties = job.properties()
        if "spark.executorEnv.PYTHONSAFEPATH" in properties:
            properties.setdefault(f"{_DRIVER_ENVIRONMENT}PYTHONSAFEPATH", "1")
        submit = {"entryPoint": job.application, "entryPointArguments": list(job.arguments)}
        answer = self._client.start_job_run(
            applicationId=self.address,
            clientToken=job.request,
            executionRoleArn=self.extras.execution_role_arn,
            name=job.name[:64],
            jobDriver={"sparkSubmit": submit},
            configurationOverrides=self.extras.overrides(properties),
            tags=self.extras.tags,
        )
        return str(answer["jobRunId"])

    def _describe(self, job_id: str) -> JobStatus:
        run = self._client.get_job_run(applicationId=self.address, jobRunId=job_id)["jobRun"]
        state = str(run["state"])
        return JobStatus(state, _OUTCOMES.get(state), reason=str(run.get("stateDetails") or ""), log=self._log(job_id))

    def _cancel(self, job_id: str) -> None:
        self._client.cancel_job_run(applicationId=self.address, jobRunId=job_id)

    def _log(self, job_id: str) -> str:
        command = "aws emr-serverless get-dashboard-for-job-run"
        return (
            self.extras.log(f"applications/{self.address}/jobs/{job_id}/SPARK_DRIVER")
            or f"{command} --application-id {self.address} --job-run-id {job_id}"
        )
