"""Spark jobs on Amazon EMR on EC2, as steps of a cluster."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from pydantic import Field

from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.asked import RefusedRequestError
from airflow_kconnect.hooks.services.aws import AwsExtras, AwsService
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob

_OUTCOMES = {
    "COMPLETED": JobOutcome.SUCCEEDED,
    "FAILED": JobOutcome.FAILED,
    "CANCELLED": JobOutcome.KILLED,
    "INTERRUPTED": JobOutcome.KILLED,
}


class EmrExtras(AwsExtras):
    """Extras of its Spark connection.

    :param execution_role_arn: the role of the step, on a cluster that has runtime roles.
    :param deploy_mode: where the driver runs: in the step itself, on the primary node; or in YARN, with ``cluster``.
        EMR ends a step with its processes only, so that there a killed job continues until the next run fences it.
    """

    execution_role_arn: str | None = None
    deploy_mode: Literal["client", "cluster"] = Field("client", alias="deploy-mode")


class Emr(AwsService):
    """A cluster of EMR: host ``emr://<cluster id>``."""

    scheme: ClassVar[str] = "emr"
    title: ClassVar[str] = "EMR"
    hook_class: ClassVar[str] = "EmrHook"
    form: ClassVar[re.Pattern[str]] = re.compile(r"j-[0-9A-Z]+")
    named: ClassVar[str] = "cluster"
    example: ClassVar[str] = "j-2AXXXXXXGAPLF"
    unknown: ClassVar[str] = "InvalidRequestException"
    extras_class: ClassVar[type[ServiceExtras]] = EmrExtras
    extras: EmrExtras

    def _start(self, job: ServiceJob) -> str:
        from botocore.config import Config

        settings = {**job.properties(), "spark.yarn.submit.waitAppCompletion": "true"}
        options = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        submit = ["spark-submit", "--master", "yarn", "--deploy-mode", self.extras.deploy_mode, *options]
        step = {
            "Name": job.name[:256],
            "ActionOnFailure": "CONTINUE",
            "HadoopJarStep": {"Jar": "command-runner.jar", "Args": [*submit, job.application, *job.arguments]},
        }
        role = self.extras.execution_role_arn
        # A step has no token by which EMR would recognise a request that is repeated because its answer was lost.
        once = self._hook(config=self._hook().config.merge(Config(retries={"total_max_attempts": 1})))
        answer = once.conn.add_job_flow_steps(
            JobFlowId=self.address, Steps=[step], **({"ExecutionRoleArn": role} if role else {})
        )
        return str(answer["StepIds"][0])

    def _describe(self, job_id: str) -> JobStatus:
        status = self._client.describe_step(ClusterId=self.address, StepId=job_id)["Step"]["Status"]
        state, failure = str(status["State"]), status.get("FailureDetails", {})
        changed = status.get("StateChangeReason", {}).get("Message")
        reason = ": ".join(text for text in (failure.get("Reason"), failure.get("Message")) if text) or changed or ""
        log = failure.get("LogFile") or f"{self.address}/steps/{job_id}/ in the log folder of the cluster"
        return JobStatus(state, _OUTCOMES.get(state), reason=reason, log=log)

    def _cancel(self, job_id: str) -> None:
        # An interrupt would reach command-runner.jar, not the driver that it has started.
        answer = self._client.cancel_steps(
            ClusterId=self.address, StepIds=[job_id], StepCancellationOption="TERMINATE_PROCESS"
        )
        for told in answer.get("CancelStepsInfoList", ()):
            if told["Status"] == "FAILED":
                raise RefusedRequestError(f"{self.title} refuses: {told.get('Reason')}")
