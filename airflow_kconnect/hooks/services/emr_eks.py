"""Spark jobs on Amazon EMR on EKS."""

from __future__ import annotations

import re
from typing import ClassVar

from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.aws import AwsService, JobRunExtras
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob

_NOT_IN_NAMES = re.compile(r"[^-./#\w]", re.ASCII)
_OUTCOMES = {"COMPLETED": JobOutcome.SUCCEEDED, "FAILED": JobOutcome.FAILED, "CANCELLED": JobOutcome.KILLED}


class EmrOnEksExtras(JobRunExtras):
    """Extras of its Spark connection.

    :param release_label: the release of EMR, with the Spark that runs the job.
    """

    release_label: str


class EmrOnEks(AwsService):
    """A virtual cluster of EMR on EKS: host ``emr-eks://<virtual cluster id>``."""

    scheme: ClassVar[str] = "emr-eks"
    title: ClassVar[str] = "EMR on EKS"
    hook_class: ClassVar[str] = "EmrContainerHook"
    form: ClassVar[re.Pattern[str]] = re.compile(r"[0-9a-z]+")
    named: ClassVar[str] = "virtual cluster"
    extras_class: ClassVar[type[ServiceExtras]] = EmrOnEksExtras
    extras: EmrOnEksExtras

    def _start(self, job: ServiceJob) -> str:
        submit = {"entryPoint": job.application, "entryPointArguments": list(job.arguments)}
        answer = self._client.start_job_run(
            virtualClusterId=self.address,
            clientToken=job.request,
            executionRoleArn=self.extras.execution_role_arn,
            name=_NOT_IN_NAMES.sub("-", job.name)[:64],
            releaseLabel=self.extras.release_label,
            jobDriver={"sparkSubmitJobDriver": submit},
            configurationOverrides=self.extras.overrides(job.properties()),
            tags=self.extras.tags,
        )
        return str(answer["id"])

    def _describe(self, job_id: str) -> JobStatus:
        run = self._client.describe_job_run(virtualClusterId=self.address, id=job_id)["jobRun"]
        state = str(run["state"])
        reason = ": ".join(str(run[key]) for key in ("failureReason", "stateDetails") if run.get(key))
        return JobStatus(state, _OUTCOMES.get(state), reason=reason, log=self._log(job_id))

    def _cancel(self, job_id: str) -> None:
        self._client.cancel_job_run(virtualClusterId=self.address, id=job_id)

    def _log(self, job_id: str) -> str:
        command = "aws emr-containers describe-job-run"
        return (
            self.extras.log(f"{self.address}/jobs/{job_id}/containers")
            or f"the pods of the job; {command} --virtual-cluster-id {self.address} --id {job_id}"
        )
