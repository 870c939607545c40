"""EMR Serverless with one application: StartJobRun, GetJobRun and CancelJobRun, as its documentation describes them."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.support.http_server import Answer, HttpServer, Request
from tests.support.spark.aws import refused, served, told
from tests.support.spark.services import JobRunner


def emr_serverless(runner: JobRunner, application: str) -> AbstractContextManager[HttpServer]:
    """A server whose jobs the runner runs."""
    return served(runner, _Application(runner, application).answer)


@dataclass
class _Application:
    runner: JobRunner
    id: str

    def answer(self, request: Request) -> Answer:
        match = re.fullmatch(rf"/applications/{self.id}/jobruns(?:/(\w+))?/?", request.path)
        if match is None or (match[1] and match[1] not in self.runner.runs):
            return refused(404, "ResourceNotFoundException", "there is no such resource")
        if request.method == "POST":
            return self._told(self._start(json.loads(request.body)))
        if request.method == "DELETE":
            if self.runner.runs[match[1]].exit_code is not None:
                return refused(400, "ValidationException", "Job run has ended")
            self.runner.cancel(match[1])
            return self._told(match[1])
        return told({"jobRun": {"jobRunId": match[1], "applicationId": self.id, **self._state(match[1])}})

    def _start(self, body: dict[str, Any]) -> str:
        for run_id, run in self.runner.runs.items():
            if run.request["clientToken"] == body["clientToken"]:
                return run_id
        submit = body["jobDriver"]["sparkSubmit"]
        (defaults,) = body["configurationOverrides"]["applicationConfiguration"]
        return self.runner.start(body, submit["entryPoint"], submit["entryPointArguments"], defaults["properties"])

    def _state(self, run_id: str) -> dict[str, str]:
        run = self.runner.runs[run_id]
        if run.cancelled:
            return {"state": "CANCELLED", "stateDetails": ""}
        if (code := run.exit_code) is None:
            return {"state": "RUNNING", "stateDetails": ""}
        details = f"Job failed, please check complete logs. ExitCode: {code}."
        return {"state": "FAILED", "stateDetails": details} if code else {"state": "SUCCESS", "stateDetails": ""}

    def _told(self, run_id: str) -> Answer:
        return told({"applicationId": self.id, "jobRunId": run_id, "arn": "arn:aws:emr-serverless:::x"})
