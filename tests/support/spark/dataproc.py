"""Dataproc in one project and region: batches and jobs of a cluster, as its REST API is documented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.http_server import Answer, HttpServer, Request, http_server
from tests.support.spark.services import JobRunner

PROJECT, REGION, CLUSTER = "shop", "europe-west1", "lake"
BATCHES = f"/v1/projects/{PROJECT}/locations/{REGION}/batches"
JOBS = f"/v1/projects/{PROJECT}/regions/{REGION}/jobs"
OPERATIONS = f"projects/{PROJECT}/regions/{REGION}/operations"


@cache
def service_account_key() -> str:
    """The key file of a service account."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    account = {"client_email": f"airflow@{PROJECT}.iam.gserviceaccount.com", "token_uri": "https://127.0.0.1:1/token"}
    pem = key.private_bytes(*form).decode()
    return json.dumps({"type": "service_account", "project_id": PROJECT, "private_key": pem, **account})


def told(**members: Any) -> Answer:
    """An answer of Google."""
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(members).encode())


def refused(status: int, code: str, text: str) -> Answer:
    """An error of Google."""
    error = {"code": status, "message": text, "status": code}
    return Answer(status, {"Content-Type": "application/json"}, json.dumps({"error": error}).encode())


@contextmanager
def dataproc(runner: JobRunner) -> Iterator[HttpServer]:
    """A server whose jobs the runner runs."""
    with http_server(answer=_Region(runner, {}).answer) as server:
        try:
            yield server
        finally:
            runner.end()


@dataclass
class _Region:
    """:param names: the name of a batch or job -> the runner's id."""

    runner: JobRunner
    names: dict[str, str]

    def answer(self, request: Request) -> Answer:
        assert request.headers["authorization"].startswith("Bearer ")
        path = urlsplit(request.path).path
        if path == BATCHES:
            return self._create(parse_qs(urlsplit(request.path).query)["batchId"][0], json.loads(request.body))
        if path == f"{JOBS}:submit":
            return self._submit(json.loads(request.body)["job"])
        name, _, action = path.rpartition("/")[2].partition(":")
        if name not in self.names:
            return refused(404, "NOT_FOUND", f"Not found: {name}")
        if action == "cancel":
            if self.runner.runs[self.names[name]].exit_code is not None:
                return refused(400, "FAILED_PRECONDITION", f"{name} has ended")
            self.runner.cancel(self.names[name])
            return told()
        return self._batch(name) if path.startswith(BATCHES) else self._job(name)

    def _create(self, name: str, batch: dict[str, Any]) -> Answer:
        self._run(name, batch["pysparkBatch"], batch["runtimeConfig"]["properties"])
        return told(name=f"{OPERATIONS}/{name}", done=False)

    def _submit(self, job: dict[str, Any]) -> Answer:
        assert job["placement"] == {"clusterName": CLUSTER}
        name = job["reference"]["jobId"]
        self._run(name, job["pysparkJob"], job["pysparkJob"]["properties"])
        return self._job(name)

    def _run(self, name: str, job: dict[str, Any], properties: dict[str, str]) -> None:
        conf = {**properties, "spark.submit.pyFiles": ",".join(job.get("pythonFileUris", ()))}
        if name not in self.names:
            self.names[name] = self.runner.start(job, job["mainPythonFileUri"], job["args"], conf)

    def _batch(self, name: str) -> Answer:
        state = self._state(name, "CANCELLED", "RUNNING", "SUCCEEDED", "FAILED")
        return told(name=name, state=state, operation=f"{OPERATIONS}/{name}")

    def _job(self, name: str) -> Answer:
        state = self._state(name, "CANCELLED", "RUNNING", "DONE", "ERROR")
        return told(reference={"projectId": PROJECT, "jobId": name}, status={"state": state})

    def _state(self, name: str, cancelled: str, running: str, good: str, bad: str) -> str:
        run = self.runner.runs[self.names[name]]
        if run.cancelled:
            return cancelled
        if (code := run.exit_code) is None:
            return running
        return bad if code else good
