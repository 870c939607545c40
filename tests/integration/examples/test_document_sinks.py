"""The examples of sinks for documents, against a node of OpenSearch and a server that speaks MongoDB's protocol."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import httpx
import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SinkHarness
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from airflow_kconnect.connect.connector.task import SinkTask, SinkTaskContext
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import SinkRecord
from tests.support import unique
from tests.support.document_stores import DocumentServer, OpenSearch
from tests.support.kafka import create_topic, produce
from tests.support.pages.markdown import REPOSITORY, blocks

FOLDER, PAGE = REPOSITORY / "dags" / "connectors", REPOSITORY / "docs" / "examples.md"
SCHEMALESS = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def module(name: str) -> ModuleType:
    """An example, as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class Store(ABC):
    """Where an example writes.

    :ivar example: its file. :ivar connector: its class.
    """

    example: ClassVar[str]
    connector: ClassVar[str]

    @abstractmethod
    def config(self) -> dict[str, str]:
        """Keys of the connector."""

    @abstractmethod
    def documents(self, topic: str) -> dict[str, dict[str, Any]]:
        """By their ids."""

    @abstractmethod
    def remove(self) -> None:
        """End its server."""


class Mongo(Store):
    example, connector = "mongodb_sink", "MongoSinkConnector"

    def __init__(self, folder: Path) -> None:
        self._server = DocumentServer(folder)

    def config(self) -> dict[str, str]:
        return {"connection.uri": self._server.uri, "database": "shop"}

    def documents(self, topic: str) -> dict[str, dict[str, Any]]:
        return {str(found.pop("_id")): found for found in self._server.client["shop"][topic].find()}

    def remove(self) -> None:
        self._server.remove()


class Search(Store):
    example, connector = "opensearch_sink", "OpenSearchSinkConnector"

    def __init__(self, folder: Path) -> None:
        self._server = OpenSearch(folder)

    def config(self) -> dict[str, str]:
        return {"connection.url": self._server.url, "connection.username": "any", "connection.password": "any"}

    def documents(self, topic: str) -> dict[str, dict[str, Any]]:
        index = f"{self._server.url}/{topic.lower()}"
        httpx.post(f"{index}/_refresh", timeout=60)
        answer = httpx.get(f"{index}/_search", params={"size": "1000"}, timeout=60).json()
        return {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]} if "hits" in answer else {}

    def remove(self) -> None:
        self._server.remove()


STORES = (Mongo, Search)


@pytest.fixture(scope="module", params=STORES, ids=lambda kind: kind.__name__)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = request.param(tmp_path_factory.mktemp("store"))
    yield made
    made.remove()


class Reporter:
    def __init__(self) -> None:
        self.offsets: list[int] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.offsets.append(record.kafka_offset)


def task_of(store: Store, reporter: Reporter | None = None, **changed: str) -> SinkTask:
    task: SinkTask = getattr(module(store.example), store.connector.replace("Connector", "Task"))()
    task.initialize(SinkTaskContext({}, (), reporter))
    task.start({**store.config(), **{key.replace("_", "."): text for key, text in changed.items()}})
    return task


@pytest.fixture
def put(store: Store) -> Iterator[Callable[..., Reporter]]:
    """`put(topic, (offset, key, value), ...)`"""
    reporter = Reporter()
    task = task_of(store, reporter)

    def make(topic: str, *rows: tuple[int, Any, Any]) -> Reporter:
        task.put([SinkRecord(topic, 0, *row) for row in rows])
        return reporter

    yield make
    task.stop()


def test_the_last_record_of_a_key_is_its_document(store: Store, put: Any) -> None:
    put(topic := unique("t"), (0, "a", {"n": 1}), (1, "b", {"n": 2}), (2, "a", {"n": 3}))
    assert store.documents(topic) == {"a": {"n": 3}, "b": {"n": 2}}


def test_a_tombstone_deletes(store: Store, put: Any) -> None:
    put(topic := unique("t"), (0, "a", {"n": 1}), (1, "b", {"n": 2}), (2, "a", None))
    assert store.documents(topic) == {"b": {"n": 2}}


def test_what_is_put_again_is_there_once(store: Store, put: Any) -> None:
    rows = [(n, None, {"n": n}) for n in range(3)]
    put(topic := unique("t"), *rows)
    put(topic, *rows)
    assert store.documents(topic) == {f"{topic}-0-{n}": {"n": n} for n in range(3)}


def test_bad_records_are_reported_and_others_are_written(store: Store, put: Any) -> None:
    rows = [(0, "a", {"n": 1}), (1, "b", "no object"), (2, None, None), (3, "c", {"n": 2})]
    reporter = put(topic := unique("t"), *rows)
    assert (reporter.offsets, store.documents(topic)) == ([1, 2], {"a": {"n": 1}, "c": {"n": 2}})


def test_without_a_reporter_a_bad_record_is_named(store: Store) -> None:
    task = task_of(store)
    with pytest.raises(DataError, match="t-0@7: a document is an object, and the value is of type str"):
        task.put([SinkRecord("t", 0, 7, "a", "no object")])
    task.stop()


@pytest.mark.parametrize("store", [Search], indirect=True)
def test_a_record_that_the_index_refuses_is_reported(store: Store, put: Any) -> None:
    reporter = put(topic := unique("t"), (0, "a", {"n": 1}), (1, "b", {"n": "text"}), (2, "c", {"n": 3}))
    assert (reporter.offsets, list(store.documents(topic))) == ([1], ["a", "c"])


@pytest.mark.parametrize("store", [Search], indirect=True)
def test_no_document_goes_back_in_time(store: Store, put: Any) -> None:
    put(topic := unique("t"), (0, "a", {"n": 1}), (1, "a", {"n": 2}), (2, "b", {"n": 1}), (3, "b", None))
    put(topic, (0, "a", {"n": 1}), (2, "b", {"n": 1}))
    assert store.documents(topic) == {"a": {"n": 2}}


@pytest.mark.parametrize("store", [Search], indirect=True)
def test_records_of_a_topic_that_begins_again_are_left_out_with_a_warning(
    put: Any, caplog: pytest.LogCaptureFixture
) -> None:
    put(topic := unique("t"), (7, "a", {"n": 1}), (8, "b", {"n": 2}))
    assert caplog.messages == []
    put(topic, (0, "a", {"n": 3}), (1, "b", {"n": 4}), (2, "c", {"n": 5}))
    assert caplog.messages == [f"2 records from {topic}-0@0 on were left out: the index has them, or newer ones"]


@pytest.mark.parametrize("store", [Mongo], indirect=True)
def test_a_document_that_is_too_large_is_reported(store: Store, put: Any) -> None:
    reporter = put(topic := unique("t"), (0, "a", {"text": "x" * (17 << 20)}), (1, "b", {"n": 1}))
    assert (reporter.offsets, store.documents(topic)) == ([0], {"b": {"n": 1}})


def test_a_server_that_is_unavailable_is_worth_a_retry(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow_kconnect.functions.http._wait", lambda seconds: None)
    nowhere = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100"
    task = task_of(store, connection_uri=nowhere, connection_url="http://127.0.0.1:1")
    with pytest.raises(RetriableError):
        task.put([SinkRecord("t", 0, 0, "a", {"n": 1})])
    task.stop()


@pytest.mark.parametrize("what", ["fails", "refuses"])
@pytest.mark.parametrize("code", [10107, 91, 50, 112], ids=str)
@pytest.mark.parametrize("store", [Mongo], indirect=True)
def test_a_write_that_may_succeed_later_is_worth_a_retry_and_no_bad_record(store: Store, code: int, what: str) -> None:
    task = task_of(store, reporter := Reporter(), collection=f"{what}-{code}")
    with pytest.raises(RetriableError, match="MongoDB is unavailable: as the test wants it"):
        task.put([SinkRecord("t", 0, 0, "a", {"n": 1})])
    task.stop()
    assert reporter.offsets == []


@pytest.mark.parametrize("store", [Mongo], indirect=True)
def test_a_write_that_is_refused_is_reported(store: Store) -> None:
    task = task_of(store, reporter := Reporter(), collection="refuses-121")
    task.put([SinkRecord("t", 0, 0, "a", {"n": 1})])
    task.stop()
    assert reporter.offsets == [0]


@pytest.mark.parametrize("store", [Mongo], indirect=True)
def test_writes_that_are_not_confirmed_are_put_again_although_one_was_refused(store: Store) -> None:
    task = task_of(store, reporter := Reporter(), collection="loses-121")
    with pytest.raises(RetriableError, match="MongoDB has not confirmed all writes"):
        task.put([SinkRecord("t", 0, 0, "a", {"n": 1})])
    task.stop()
    assert reporter.offsets == []


@pytest.mark.parametrize("store", [Search], indirect=True)
def test_records_are_not_bad_since_their_index_cannot_be_written(store: Store, put: Any) -> None:
    put(topic := unique("t"), (0, "a", {"n": 1}))
    settings = f"{store.config()['connection.url']}/{topic}/_settings"
    httpx.put(settings, json={"index.blocks.write": True}, timeout=60).raise_for_status()
    task = task_of(store, reporter := Reporter())
    with pytest.raises(RetriableError, match=f"index {topic} cannot be written: 403 cluster_block_exception"):
        task.put([SinkRecord(topic, 0, 1, "b", {"n": 2})])
    task.stop()
    assert reporter.offsets == []


@pytest.mark.parametrize("store", [Mongo], indirect=True)
def test_an_address_that_is_none_is_named(store: Store) -> None:
    with pytest.raises(ConfigError, match=r"`connection.uri`: is not an address of MongoDB"):
        task_of(store, connection_uri="shop:27017/")


def harness_of(store: Store) -> type[SinkHarness]:
    class Documents(SinkHarness):
        def config(self) -> dict[str, str]:
            return {**store.config(), **SCHEMALESS}

        def arrived(self) -> Iterator[Any]:
            yield from store.documents(self.topic).values()

    return Documents


_CHECKS = (
    *("runs", "second-run", "empty", "each-record", "bounds", "unicode", "nulls", "large", "tombstones"),
    *("killed:mid-write", "killed:after-last-write", "killed:after-visible", "killed:after-final-commit"),
    *("killed:random", "two-runs"),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("check", _CHECKS)
def test_it_conforms(check: str, store: Store, worker_props: dict[str, str], tmp_path: Path) -> None:
    subject = Subject.of(f"{FOLDER / store.example}.py:{store.connector}", tmp_path)
    lab = Lab(subject, harness_of(store), worker_props, tmp_path)
    (finding,) = examined(lab, checks_of(subject, [check])).findings
    assert finding.status is Status.PASSED, finding


@pytest.mark.parametrize("store", [pytest.param(Mongo, marks=pytest.mark.exhaustive), Search], indirect=True)
def test_the_command_of_the_page_runs_it(store: Store, worker_file: Path, bootstrap: str, tmp_path: Path) -> None:
    topic = create_topic(bootstrap, unique("orders"))
    produce(bootstrap, topic, ['{"id": 1}', '{"id": 2}'], key="a")
    (example,) = [block for block in blocks(PAGE) if block.info == "jsonc" and f'.{store.connector}"' in block.text]
    given = json.loads(example.text)
    given["config"] |= {"topics": topic, **store.config()}
    (file := tmp_path / "orders.json").write_text(json.dumps({**given, "name": unique("orders")}))
    plugin = ("--plugin", str(FOLDER / f"{store.example}.py"))
    command = [sys.executable, "-m", "airflow_kconnect.cli", "run", *plugin, str(file), "--worker", str(worker_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert store.documents(topic) == {"a": {"id": 2}}
