"""A real Kafka Connect worker next to the embedded broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.machine.errors import SetupError
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import read_all, read_values

# Tests of runtime/test_interoperation.py fail if the worker does not work.
pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(180)]

_CAST = "org.apache.kafka.connect.transforms.Cast$Value"


@pytest.fixture(scope="module")
def worker(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    group = unique("connect")
    with ConnectWorker(
        tmp_path_factory.mktemp("connect"),
        bootstrap=bootstrap,
        group_id=group,
        offset_topic=f"{group}-offsets",
        config_topic=f"{group}-configs",
        status_topic=f"{group}-status",
        heap_mb=256,
    ) as running:
        yield running


def _wait_for(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"not within {timeout_s} s"
        time.sleep(0.2)


def file_source(path: Path, topic: str) -> dict[str, str]:
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(path),
        "topic": topic,
        "exactly.once.support": "requested",
    }


class TestConnectWorker:
    def test_file_source_runs_stops_and_tells_its_offsets(
        self, worker: ConnectWorker, bootstrap: str, topic: Callable[..., str], tmp_path: Path
    ) -> None:
        lines, name, target = tmp_path / "lines.txt", unique("file source"), topic()
        lines.write_text("one\ntwo\n")
        worker.create(name, file_source(lines, target))
        worker.wait_running(name)
        _wait_for(lambda: len(read_all(bootstrap, target)) == 2)
        worker.stop_connector(name)
        assert [value and b"two" in value for value in read_values(bootstrap, target)] == [False, True]
        assert worker.offsets(name) == [{"partition": {"filename": str(lines)}, "offset": {"position": 8}}]
        assert worker.status(name)["tasks"] == []

        lines.write_text("one\ntwo\nthree\n")
        worker.resume(name)
        _wait_for(lambda: len(read_all(bootstrap, target)) == 3)
        worker.pause(name)
        worker.delete(name)
        assert name not in worker.connectors()

    def test_verifiable_source_is_there(self, worker: ConnectWorker, bootstrap: str, topic: Callable[..., str]) -> None:
        name, target = unique("verifiable"), topic()
        verifiable = "org.apache.kafka.connect.tools.VerifiableSourceConnector"
        worker.create(
            name,
            {"connector.class": verifiable, "name": name, "id": "1", "topic": target, "throughput": "10"},
        )
        worker.wait_running(name)
        _wait_for(lambda: len(read_all(bootstrap, target)) > 0)
        worker.delete(name)

    def test_failed_task_tells_the_trace(
        self, worker: ConnectWorker, topic: Callable[..., str], tmp_path: Path
    ) -> None:
        (tmp_path / "lines.txt").write_text("no number\n")
        cast = {"transforms": "t", "transforms.t.type": _CAST, "transforms.t.spec": "int8"}
        name = unique("failing")
        worker.create(name, {**file_source(tmp_path / "lines.txt", topic()), **cast})
        with pytest.raises(ConnectError, match=rf"Connector {name} failed in Kafka Connect: org(.|\n)*no number"):
            worker.wait_for(name, "PAUSED", timeout_s=60)
        worker.delete(name)

    def test_refused_configuration_is_an_error_with_the_answer(self, worker: ConnectWorker) -> None:
        with pytest.raises(ConnectError, match=r"400 .*topic"):
            worker.create(unique("bad"), {"connector.class": file_source(Path("x"), "")["connector.class"]})

    def test_unknown_connector(self, worker: ConnectWorker) -> None:
        with pytest.raises(ConnectError, match="404 "):
            worker.status("no such connector")


class TestStart:
    def test_death_at_start_names_the_reason(self, bootstrap: str, tmp_path: Path) -> None:
        worker = ConnectWorker(tmp_path, bootstrap=bootstrap, settings={"key.converter": "no.such.Converter"})
        with pytest.raises(SetupError, match=r"exit code 2\. From .*connect.log:\n(.|\n)*no\.such\.Converter"):
            worker.start()

    def test_a_worker_that_was_not_started_has_no_pid(self, bootstrap: str, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="does not run"):
            assert ConnectWorker(tmp_path, bootstrap=bootstrap).pid
