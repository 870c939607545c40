"""The HTTP sink with a real broker: dead letters, runs that are killed, and what the conformance kit finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import Failure, SinkHarness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.http.sink import HttpSinkConnector
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.http_server import Answer, HttpServer, Request, http_server
from tests.support.kafka import produce, read_all

SCHEMALESS = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def refusing(request: Request) -> Answer:
    """Odd numbers are refused, alone and in batches."""
    odd = any(json.loads(line)["n"] % 2 for line in request.body.splitlines())
    return Answer(422, body=b"odd") if odd else Answer()


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server(answer=refusing) as server:
        yield server


@pytest.fixture
def sent(
    worker_props: dict[str, str], spark: SparkSession, topic: Callable[..., str], receiver: HttpServer
) -> Callable[..., RunReport]:
    """`sent(**keys)`: a run over the numbers 0 to 4."""

    def make(**keys: str) -> RunReport:
        name = topic()
        produce(worker_props["bootstrap.servers"], name, [f'{{"n":{n}}}' for n in range(5)])
        config = {"name": name, "connector.class": "io.aiven.kafka.connect.http.HttpSinkConnector", "topics": name}
        more = {key.replace("__", "."): value for key, value in keys.items()}
        return run(RunSpec({**config, "http.url": receiver.url, **SCHEMALESS, **more}, worker_props), spark)

    return make


@pytest.mark.parametrize("batching", [pytest.param("false", marks=pytest.mark.exhaustive), "true"])
def test_records_that_are_refused_become_dead_letters(
    batching: str, sent: Callable[..., RunReport], bootstrap: str
) -> None:
    dead = unique("dead")
    report = sent(
        batching__enabled=batching,
        errors__tolerance="all",
        errors__deadletterqueue__topic__name=dead,
        errors__deadletterqueue__topic__replication__factor="1",
    )
    counts = (report.records["written"], report.records["dead_lettered"])
    assert (counts, [record.value for record in read_all(bootstrap, dead)]) == ((3, 2), [b'{"n":1}', b'{"n":3}'])


def test_without_tolerance_a_record_that_is_refused_ends_the_run(sent: Callable[..., RunReport]) -> None:
    with pytest.raises(DataError, match=r"-0@1: POST \S+: 422 Unprocessable Entity: odd"):
        sent()


class _Receiver(SinkHarness):
    """A server that keeps what it gets; with `by_key`, a request that it has had is answered, and not kept again."""

    by_key = True
    keys: dict[str, str] = {}

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self._kept: list[tuple[str, bytes]] = []
        self._failure: Failure | None = None
        self._open = ExitStack()
        self.server = self._open.enter_context(http_server(answer=self._answer))

    def _answer(self, request: Request) -> Answer:
        if self._failure is not None:
            return Answer({Failure.RETRIABLE: 503, Failure.DATA: 422, Failure.CONFIG: 401}.get(self._failure, 400))
        key = request.headers["Idempotency-Key"]
        if not self.by_key or key not in dict(self._kept):
            self._kept.append((key, request.body))
        return Answer()

    def config(self) -> dict[str, str]:
        own = {"http.url": self.server.url, "retry.backoff.ms": "1", **self.keys}
        return {**own, "kconnect.http.idempotent": str(self.by_key).lower(), **SCHEMALESS}

    def arrived(self) -> Iterator[Any]:
        for _, body in self._kept:
            yield from map(json.loads, body.splitlines())

    def fail(self, failure: Failure | None) -> None:
        self._failure = failure

    def close(self) -> None:
        self._open.close()


class _Batches(_Receiver):
    by_key = False
    keys = {"batching.enabled": "true", "batch.max.size": "3"}


_QUICK = ("killed:mid-write",)
_MORE = (
    *("runs", "tombstones", "second-run", "each-record", "bounds", "unicode", "nulls", "large"),
    *("killed:after-last-write",),
    *("killed:after-visible", "killed:after-final-commit", "killed:random", "two-runs", "errors"),
)


@pytest.mark.parametrize("check", [*_QUICK, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in _MORE)])
@pytest.mark.parametrize("harness", [_Receiver, pytest.param(_Batches, marks=pytest.mark.exhaustive)])
def test_it_conforms(check: str, harness: type[_Receiver], worker_props: dict[str, str], tmp_path: Path) -> None:
    lab = Lab(Subject.of(HttpSinkConnector, tmp_path), harness, worker_props, tmp_path)
    (finding,) = examined(lab, checks_of(lab.subject, [check])).findings
    assert finding.status is Status.PASSED, finding
