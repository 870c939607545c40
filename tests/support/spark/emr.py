"""EMR with one cluster: AddJobFlowSteps, DescribeStep and CancelSteps, as its documentation describes them."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.support.http_server import Answer, HttpServer, Request
from tests.support.spark.aws import refused, served, told
from tests.support.spark.services import JobRunner


def emr(runner: JobRunner, cluster: str) -> AbstractContextManager[HttpServer]:
    """A server whose steps the runner runs."""
    return served(runner, _Cluster(runner, cluster).answer)


@dataclass
class _Cluster:
    runner: JobRunner
    id: str

    def answer(self, request: Request) -> Answer:
        headers = {name.lower(): value for name, value in request.headers.items()}
        action, body = headers["x-amz-target"].removeprefix("ElasticMapReduce."), json.loads(request.body)
        if self.id not in (body.get("JobFlowId"), body.get("ClusterId")):
            return refused(400, "InvalidRequestException", "Cluster id is not valid.")
        match action:
            case "AddJobFlowSteps":
                return told({"StepIds": [self._add(step) for step in body["Steps"]]})
            case "CancelSteps":
                return told({"CancelStepsInfoList": [self._cancel(step) for step in body["StepIds"]]})
        assert action == "DescribeStep"
        if body["StepId"] not in self.runner.runs:
            return refused(400, "InvalidRequestException", f"Step id '{body['StepId']}' is not valid.")
        return told({"Step": {"Id": body["StepId"], "Status": self._status(body["StepId"])}})

    def _add(self, step: dict[str, Any]) -> str:
        jar = step["HadoopJarStep"]
        assert jar["Jar"] == "command-runner.jar"
        program, *words = jar["Args"]
        assert program == "spark-submit"
        conf = {}
        while words[0].startswith("--"):
            option, value, *words = words
            if option == "--conf":
                key, _, conf[key] = value.partition("=")
        return self.runner.start(step, words[0], words[1:], conf)

    def _cancel(self, step_id: str) -> dict[str, str]:
        if self.runner.runs[step_id].exit_code is not None:
            return {"StepId": step_id, "Status": "FAILED", "Reason": "Unable to cancel step. It is already COMPLETED."}
        self.runner.cancel(step_id)
        return {"StepId": step_id, "Status": "SUBMITTED"}

    def _status(self, step_id: str) -> dict[str, Any]:
        run = self.runner.runs[step_id]
        if run.cancelled:
            return {"State": "CANCELLED", "StateChangeReason": {"Message": "Cancelled by user"}}
        if (code := run.exit_code) is None:
            return {"State": "RUNNING", "StateChangeReason": {}}
        details = {"Reason": "Unknown Error.", "LogFile": f"s3://logs/{self.id}/steps/{step_id}/stderr.gz"}
        return {"State": "FAILED", "FailureDetails": details} if code else {"State": "COMPLETED"}
