"""The HTTP source with a real broker: what runs write, also if they are killed, and without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SourceHarness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from airflow_kconnect.http.source import HttpSourceConnector
from airflow_kconnect.runtime.process.session import LazySession
from tests.support import kill_points
from tests.support.connectors.runs import Runs
from tests.support.paged_api import PagedApi

JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture
def api() -> Iterator[PagedApi]:
    with PagedApi().serving() as serving:
        yield serving


def config_of(api: PagedApi, topic: str) -> dict[str, str]:
    return {
        "http.request.url": f"{api.url}/orders",
        "http.request.params": "since={cursor}",
        "http.response.list.pointer": "/data",
        "http.authorization.type": "static",
        "http.headers.authorization": f"Bearer {api.token}",
        "retry.backoff.ms": "10",
        "kconnect.http.paging": "url",
        "kconnect.http.paging.pointer": "/next",
        "kconnect.http.key.fields": "id",
        "kconnect.http.cursor.fields": "id",
        "topic": topic,
        "key.converter": JSON,
        "key.converter.schemas.enable": "false",
        "value.converter": JSON,
        "value.converter.schemas.enable": "true",
    }


@pytest.fixture
def runs(api: PagedApi, worker_props: dict[str, str], tmp_path: Path, spark_if_needed: LazySession) -> Runs:
    own = {"connector.class": "airflow_kconnect.connectors.http.HttpSourceConnector"}
    made = Runs(worker_props, tmp_path, spark_if_needed, own)
    made.config |= config_of(api, f"{made.name}.orders")
    return made


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: Runs, api: PagedApi) -> None:
    api.count = 40
    runs.kill_at(point)
    api.count, api.failures = 65, 1  # it asks again
    report = runs.run()
    assert report.guarantee == "exactly_once"
    rows = runs.column("orders", "payload")
    assert Counter(row["id"] for row in rows) == Counter(range(65))
    assert rows[-1] == {"id": 64, "amount": "64.50"}


class _Api(SourceHarness):
    """Orders that become more."""

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self._open = ExitStack()
        self._api = self._open.enter_context(PagedApi().serving())

    def config(self) -> dict[str, str]:
        return config_of(self._api, self.topic)

    def add(self, count: int) -> None:
        self._api.count += count

    def close(self) -> None:
        self._open.close()


class _ByPages(_Api):
    """The same orders, by the number of the page that was read last."""

    def config(self) -> dict[str, str]:
        own = {"kconnect.http.paging": "page", "kconnect.http.paging.start": "0", "kconnect.http.paging.resume": "true"}
        others = ("http.request.params", "kconnect.http.cursor.fields", "kconnect.http.paging.pointer")
        return {**{key: text for key, text in super().config().items() if key not in others}, **own}


_QUICK = ("offsets", "same-again", "schemas", "poll")
_MORE = (
    *("runs", "repeats", "second-run", "empty", "each-record", "bounds", "bounded-time", "two-runs"),
    *("killed:after-reading-offsets", "killed:mid-produce", "killed:before-final-commit", "killed:random"),
)


@pytest.mark.parametrize("check", [*_QUICK, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in _MORE)])
@pytest.mark.parametrize("harness", [_Api, pytest.param(_ByPages, marks=pytest.mark.exhaustive)])
def test_it_conforms(harness: type[_Api], check: str, worker_props: dict[str, str], tmp_path: Path) -> None:
    lab = Lab(Subject.of(HttpSourceConnector, tmp_path), harness, worker_props, tmp_path)
    (finding,) = examined(lab, checks_of(lab.subject, [check])).findings
    assert finding.status is Status.PASSED, finding
