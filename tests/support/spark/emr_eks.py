"""EMR on EKS with one virtual cluster: StartJobRun, DescribeJobRun and CancelJobRun, as its documentation describes."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.support.http_server import Answer, HttpServer, Request
from tests.support.spark.aws import refused, served, told
from tests.support.spark.services import JobRunner


def emr_eks(runner: JobRunner, virtual_cluster: str) -> AbstractContextManager[HttpServer]:
    """A server whose jobs the runner runs."""
    return served(runner, _VirtualCluster(runner, virtual_cluster).answer)


@dataclass
class _VirtualCluster:
    runner: JobRunner
    id: str

    def answer(self, request: Request) -> Answer:
        match = re.fullmatch(rf"/virtualclusters/{self.id}/jobruns(?:/(\w+))?", request.path)
        if match is None or (match[1] and match[1] not in self.runner.runs):
            return refused(400, "ResourceNotFoundException", "there is no such resource")
        if request.method == "POST":
            return self._told(self._start(json.loads(request.body)))
        if request.method == "DELETE":
            if self.runner.runs[match[1]].exit_code is not None:
                return refused(400, "ValidationException", f"Job run {match[1]} is not in a cancellable state")
            self.runner.cancel(match[1])
            return self._told(match[1])
        return told({"jobRun": {"id": match[1], "virtualClusterId": self.id, **self._state(match[1])}})

    def _start(self, body: dict[str, Any]) -> str:
        for run_id, run in self.runner.runs.items():
            if run.request["clientToken"] == body["clientToken"]:
                return run_id
        submit = body["jobDriver"]["sparkSubmitJobDriver"]
        (defaults,) = body["configurationOverrides"]["applicationConfiguration"]
        return self.runner.start(body, submit["entryPoint"], submit["entryPointArguments"], defaults["properties"])

    def _state(self, run_id: str) -> dict[str, str]:
        run = self.runner.runs[run_id]
        if run.cancelled:
            return {"state": "CANCELLED", "stateDetails": "JobRun CANCELLED successfully."}
        if (code := run.exit_code) is None:
            return {"state": "RUNNING"}
        failed = {"failureReason": "USER_ERROR", "stateDetails": "JobRun failed. Please refer logs uploaded."}
        return {"state": "FAILED", **failed} if code else {"state": "COMPLETED"}

    def _told(self, run_id: str) -> Answer:
        return told({"id": run_id, "name": "x", "arn": "arn:aws:emr-containers:::x", "virtualClusterId": self.id})
