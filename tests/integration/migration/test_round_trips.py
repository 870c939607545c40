"""`kconnect migrate` with a real Kafka Connect: from Connect to here and back, nothing lost and nothing doubled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.migration.cluster import ConnectCluster
from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import STRING, NumberedFile
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import produce, read_values

pytestmark = [pytest.mark.connect, pytest.mark.timeout(300)]

Start = Callable[[dict[str, str]], None]


@pytest.fixture(params=["the same offset topic", pytest.param("another offset topic", marks=pytest.mark.exhaustive)])
def sides(request: pytest.FixtureRequest, side: Callable[..., Side]) -> Side:
    """Our side, over Connect's offset topic and group, or over others."""
    if request.param == "the same offset topic":
        return side()
    return side(**{"offset.storage.topic": unique("offsets"), "group.id": unique("kconnect")})


@pytest.mark.exhaustive  # as the page about it says: `runtime/test_interoperation.py`
def test_a_file_source_moves_here_and_back_twice(
    sides: Side,
    connect: ConnectWorker,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Start,
) -> None:
    name, topic = source["name"], source["topic"]

    def values() -> list[bytes | None]:
        return read_values(bootstrap, topic)

    numbered.append(100)
    start_in_connect(source)
    wait_until(lambda: len(values()) >= 100, "Connect writing")
    for _ in range(2):
        sides.move(name)
        assert connect.status(name)["connector"]["state"] == "STOPPED"
        numbered.append(50)
        assert sides.run(name).records["written"] == 50
        numbered.append(30)
        sides.back(name)
        wait_until(lambda: len(values()) >= numbered.lines, "Connect continuing")
        assert values() == numbered.expected()


def test_a_file_sink_moves_here_and_back(
    sides: Side,
    connect: ConnectWorker,
    topic: Callable[..., str],
    bootstrap: str,
    tmp_path: Path,
    start_in_connect: Start,
) -> None:
    records, target = topic(partitions=2), tmp_path / "out.txt"
    name = unique("sink")
    sink = {
        "name": name,
        "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "topics": records,
        "file": str(target),
        "value.converter": STRING,
    }

    def add(first: int, end: int) -> None:
        produce(bootstrap, records, [f"record-{n}" for n in range(first, end)])

    def lines() -> list[str]:
        return sorted(target.read_text().splitlines() if target.exists() else [])

    def expected(count: int) -> list[str]:
        return sorted(f"record-{n}" for n in range(count))

    add(0, 100)
    start_in_connect(sink)
    wait_until(lambda: lines() == expected(100), "Connect's sink writing")
    sides.move(name)
    add(100, 150)
    sides.run(name)
    assert lines() == expected(150)
    add(150, 170)
    sides.back(name)
    wait_until(lambda: len(lines()) >= 170, "Connect's sink continuing")
    assert lines() == expected(170)


def test_a_first_commit_between_the_looks_at_both_sides_is_no_difference(
    side: Callable[..., Side],
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbered.append(10)
    start_in_connect(source)
    wait_until(lambda: len(read_values(bootstrap, source["topic"])) >= 10, "Connect writing")
    offsets, looks = ConnectCluster.offsets, []

    def first_before_the_commit(self: ConnectCluster, name: str) -> list[dict[str, Any]]:
        looks.append(name)
        return [] if len(looks) == 1 else offsets(self, name)

    ours = side()
    wait_until(lambda: ours.survey(source["name"])["offsets"]["partitions_here"] == 1, "Connect committing")
    monkeypatch.setattr(ConnectCluster, "offsets", first_before_the_commit)
    assert ours.survey(source["name"])["verdict"] == "can move"


@pytest.mark.exhaustive
def test_a_python_source_moves_here_and_back(
    sides: Side, connect: ConnectWorker, topic: Callable[..., str], bootstrap: str, start_in_connect: Start
) -> None:
    """The verifiable source numbers its records: a gap or a repetition shows."""
    target, name = topic(), unique("verifiable")
    source = {
        "name": name,
        "connector.class": "org.apache.kafka.connect.tools.VerifiableSourceConnector",
        "topic": target,
        "throughput": "200",
        "key.converter": "org.apache.kafka.connect.converters.IntegerConverter",
        "value.converter": "org.apache.kafka.connect.converters.LongConverter",
    }

    def numbers() -> list[int]:
        return [int.from_bytes(value or b"", "big") for value in read_values(bootstrap, target)]

    start_in_connect(source)
    wait_until(lambda: len(numbers()) > 100, "Connect writing")
    sides.move(name)
    in_connect = len(numbers())
    sides.run(name, **{"max.seqno": str(in_connect + 99), "throughput": "-1"})
    assert numbers() == list(range(in_connect + 100))
    sides.back(name)
    wait_until(lambda: len(numbers()) > in_connect + 200, "Connect continuing")
    connect.stop_connector(name)
    assert numbers() == list(range(len(numbers())))
