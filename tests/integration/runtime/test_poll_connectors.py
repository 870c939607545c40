"""The contract of Python tasks, proved by the verifiable source and sink."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.kafka import create_topic, produce, read_all, read_values

SOURCE = {"connector.class": "VerifiableSource", "throughput": "-1", "tasks.max": "2"}
SCHEMALESS = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def _source(**more: str) -> dict[str, str]:
    name = unique("verifiable")
    return {**SOURCE, **SCHEMALESS, "name": name, "topic": f"t-{name}", "max.seqno": "999", **more}


def _sequences(bootstrap: str, topic: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for record in read_all(bootstrap, topic):
        found.setdefault(json.loads(record.key or b""), []).append(json.loads(record.value or b""))
    return found


def _lines(folder: Path, prefix: str) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob(f"{prefix}*")) for line in path.read_text().splitlines()]


def test_tasks_deliver_their_sequences_in_order_and_resume_at_their_offsets(run_here: Run, bootstrap: str) -> None:
    config = _source()
    report = run_here(config)
    expected = [{"partition": {"id": n}, "offset": {"seqno": 999}} for n in (0, 1)]
    assert sorted(report.offsets, key=lambda found: found["partition"]["id"]) == expected
    run_here({**config, "max.seqno": "1499"})
    assert _sequences(bootstrap, config["topic"]) == {0: list(range(1500)), 1: list(range(1500))}


def test_bound_by_records_is_shared_by_the_tasks(run_here: Run) -> None:
    assert run_here(_source(**{"kconnect.max.records": "101"})).records["written"] == 101


def test_a_run_that_a_bound_has_ended_is_not_complete_and_each_task_gets_on(run_here: Run) -> None:
    bounded = _source(**{"tasks.max": "4", "max.seqno": "0", "kconnect.max.records": "3"})
    report = run_here(bounded)
    assert (report.incomplete, len(report.offsets), report.records["written"]) == (["max_records"], 4, 4)
    assert run_here({**bounded, "kconnect.max.records": "9"}).complete


def test_a_bound_on_time_begins_with_the_first_poll(run_here: Run) -> None:
    report = run_here(_source(**{"throughput": "2", "tasks.max": "1", "kconnect.max.duration.ms": "1500"}))
    assert (report.complete, report.incomplete, report.records["written"] > 0) == (False, ["max_duration"], True)


def test_task_hears_of_every_commit_before_it_is_stopped(run_here: Run, tmp_path: Path) -> None:
    config = _source(**{"log.file": str(tmp_path / "log"), "tasks.max": "1"})
    run_here(config)
    committed = [line["seqno"] for line in _lines(tmp_path, "log") if line.get("committed")]
    assert committed == list(range(1000))


def test_records_with_a_schema_are_structs(run_here: Run, bootstrap: str) -> None:
    config = _source(**{"complete.record.data": "true", "tasks.max": "1", "max.seqno": "4"})
    run_here(config)
    values = [json.loads(value or b"") for value in read_values(bootstrap, config["topic"])]
    assert [(value["task"], value["seqno"]) for value in values] == [(0, n) for n in range(5)]


def test_other_spellings_of_an_offset_key_are_removed(run_here: Run, bootstrap: str, worker_topics: str) -> None:
    """Another client has written them; with skewed clocks an old one could win later."""
    config = _source(**{"tasks.max": "1"})
    older, newer = (f'["{config["name"]}",{{"id":{space}0}}]'.encode() for space in (" ", "  "))
    for key, seqno in ((older, 5), (newer, 9)):
        produce(
            bootstrap,
            worker_topics,
            [json.dumps({"seqno": seqno})],
            key=key,
            settings={"partitioner": "murmur2_random"},
        )
    run_here(config)
    last = {record.key: record.value for record in read_all(bootstrap, worker_topics)}
    assert (last[older], last[newer]) == (None, b'{"seqno":999}')


@pytest.fixture(scope="module")
def filled(bootstrap: str) -> str:
    """A topic with 2,000 records of two tasks, written in transactions."""
    name = create_topic(bootstrap, unique("filled"), 2)
    for task in (0, 1):
        settings = {"transactional.id": unique("filled")}
        produce(bootstrap, name, map(str, range(1000)), key=str(task), settings=settings)
    return name


class TestSink:
    @pytest.fixture
    def sink(self, filled: str, tmp_path: Path) -> dict[str, str]:
        """A sink over that topic."""
        return {
            "name": unique("sink"),
            "connector.class": "VerifiableSink",
            "topics": filled,
            "log.file": str(tmp_path / "sink"),
            **SCHEMALESS,
        }

    def test_task_is_put_every_record_once_and_in_order(
        self, sink: dict[str, str], run_here: Run, tmp_path: Path
    ) -> None:
        assert [run_here(sink).records["written"] for _ in range(2)] == [2000, 0]
        for path in tmp_path.glob("sink*"):
            offsets = [line["offset"] for line in map(json.loads, path.read_text().splitlines()) if "value" in line]
            assert offsets == sorted(set(offsets))

    def test_task_flushes_within_a_split(
        self, topic: Callable[..., str], bootstrap: str, run_here: Run, tmp_path: Path
    ) -> None:
        name = topic()
        produce(bootstrap, name, map(str, range(12_000)))
        config = {"name": unique("sink"), "connector.class": "VerifiableSink", "topics": name, **SCHEMALESS}
        run_here({**config, "log.file": str(tmp_path / "log")}, **{"offset.flush.interval.ms": "0"})
        flushed = ["flushed" in line for line in _lines(tmp_path, "log")]
        assert sum(flushed) == 12_000
        assert flushed.index(True) < flushed.index(False, flushed.index(True))

    def test_bound_by_records_resumes_next_time(self, sink: dict[str, str], run_here: Run) -> None:
        reports = [run_here({**sink, "kconnect.max.records": "1500"}), run_here(sink)]
        assert sum(report.records["written"] for report in reports) == 2000
        # In offsets, of which transactions have some more than records.
        assert 500 <= sum(reports[0].lag.values()) <= 510
        assert (reports[1].lag, reports[1].lag_max) == ({sink["topics"]: 0}, 0)

    def test_a_lag_that_no_one_answers_is_a_warning(
        self, sink: dict[str, str], run_here: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ask, asked = KafkaAdmin.bounds, list[object]()

        def unavailable_in_the_end(admin: KafkaAdmin, places: Any) -> Any:
            asked.append(places)
            if len(asked) > 1:
                raise RetriableError("no broker answers")
            return ask(admin, places)

        monkeypatch.setattr(KafkaAdmin, "bounds", unavailable_in_the_end)
        report = run_here(sink)
        assert (report.records["written"], report.lag_max) == (2000, None)
        assert report.warnings[-1] == "the lag is not known: no broker answers"
