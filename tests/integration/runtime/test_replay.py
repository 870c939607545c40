"""Intervals are moved again without touching the live offsets: all of their records, and no others, once per key."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import ConfigError, FencedError, RetriableError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runtime.sink import run as sink_run
from airflow_kconnect.runtime.source import run as source_run
from airflow_kconnect.runtime.spark_jobs import run_job
from tests.integration.runtime.conftest import NEEDS_SPARK, STRING, Run
from tests.support import unique
from tests.support.kafka import produce, read_all, read_values

MIDNIGHT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000


def hour(number: int, key: str | None = None) -> Replay:
    """The n-th hour of the day."""
    return Replay(MIDNIGHT + number * HOUR, MIDNIGHT + (number + 1) * HOUR, key or unique("key"))


class TestSink:
    @pytest.fixture
    def config(self, topic: Callable[..., str], bootstrap: str, tmp_path: Path) -> dict[str, str]:
        """A directory sink over a topic with 10 records in each of three hours, and a late one of the second hour."""
        name = topic(partitions=2, config={"retention.ms": "-1"})  # the records are old
        producer = Producer({"bootstrap.servers": bootstrap})
        for n in range(30):
            producer.produce(name, f"r{n}".encode(), partition=n % 2, timestamp=MIDNIGHT + n * HOUR // 10)
        producer.produce(name, b"late", partition=0, timestamp=MIDNIGHT + HOUR + 1)
        assert producer.flush(30) == 0
        out = str(tmp_path / "out")
        return {
            "name": unique("sink"),
            "connector.class": "DirectorySink",
            "topics": name,
            "directory": out,
            "value.converter": STRING,
        }

    @staticmethod
    def replayed(config: dict[str, str]) -> dict[str, list[str]]:
        """Folder of an interval -> the records in it."""
        found: dict[str, list[str]] = {}
        root = Path(config["directory"], "_replays")
        for path in root.rglob("*.json"):
            records = [json.loads(line) for line in path.read_text().splitlines()]
            found.setdefault(path.relative_to(root).parts[0], []).extend(records)
        return found

    def test_intervals_that_touch_have_each_record_once_and_live_offsets_stay(
        self, config: dict[str, str], run_here: Run
    ) -> None:
        reports = [run_here(config, interval=hour(number)) for number in range(3)]
        records = [*(f"r{n}" for n in range(30)), "late"]
        hours = (records[:10], records[10:20], records[20:])
        assert sorted(map(sorted, self.replayed(config).values())) == sorted(map(sorted, hours))
        assert reports[1].replay == "2026-01-01T01:00:00Z/2026-01-01T02:00:00Z"
        assert run_here(config).records["written"] == 31

    def test_a_repeated_attempt_writes_nothing_and_a_new_replay_leaves_the_same_files(
        self, config: dict[str, str], run_here: Run
    ) -> None:
        run_here(config, interval=hour(1, "same"))
        before = self.replayed(config)
        assert run_here(config, interval=hour(1, "same")).records["written"] == 0
        assert run_here(config, interval=hour(1)).records["written"] == 10
        assert self.replayed(config) == before

    def test_of_two_at_once_the_newer_one_writes(
        self, config: dict[str, str], run_here: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def overtaken(*job: Any) -> Any:
            monkeypatch.undo()
            run_here({**config, "flush.size": "3"}, interval=hour(1))
            return run_job(*job)

        monkeypatch.setattr(sink_run, "run_job", overtaken)
        with pytest.raises(FencedError):
            run_here(config | NEEDS_SPARK, interval=hour(1))
        (records,) = self.replayed(config).values()
        assert sorted(records) == sorted(f"r{n}" for n in range(10, 20))

    def test_a_dry_run_only_counts(self, config: dict[str, str], run_here: Run) -> None:
        report = run_here(config, interval=hour(1), dry_run=True)
        assert report.notes == {"dry_run": True, "would_read_offsets": 10}
        assert self.replayed(config) == {}

    def test_what_a_source_of_the_same_run_has_replayed_is_taken_whatever_its_timestamps(
        self, config: dict[str, str], run_here: Run
    ) -> None:
        written = ({"topic": config["topics"], "partition": 0, "start": 3, "end": 5},)
        run_here(config, interval=replace(hour(7), written=written))
        assert list(self.replayed(config).values()) == [["r6", "r8"]]

    def test_a_source_that_has_replayed_into_other_topics_is_a_warning(
        self, config: dict[str, str], run_here: Run
    ) -> None:
        written = ({"topic": "others", "partition": 0, "start": 3, "end": 5},)
        report = run_here(config, interval=replace(hour(7), written=written))
        assert (report.records["read"], report.warning_kinds) == (0, ["empty_replay"])

    def test_a_sink_that_appends_to_one_file_says_no(
        self, config: dict[str, str], run_here: Run, tmp_path: Path
    ) -> None:
        config |= {"connector.class": "FileStreamSink", "file": str(tmp_path / "one.txt")}
        with pytest.raises(ConfigError, match="would stand twice"):
            run_here(config, interval=hour(1))


class TestSource:
    @pytest.fixture
    def config(self, tmp_path: Path) -> dict[str, str]:
        """A file source over a folder with a file of each of the first three hours."""
        folder = tmp_path / "in"
        folder.mkdir()
        for number in range(3):
            path = folder / f"{number}.txt"
            path.write_text(f"a{number}\nb{number}\n")
            at = (MIDNIGHT + number * HOUR) / 1000
            os.utime(path, (at, at))
        name = unique("source")
        return {
            "name": name,
            "connector.class": "FileStreamSource",
            "files": str(folder),
            "topic": f"t-{name}",
            "value.converter": STRING,
        }

    def test_an_interval_has_the_files_that_were_changed_in_it_and_live_offsets_stay(
        self, config: dict[str, str], run_here: Run, bootstrap: str
    ) -> None:
        run_here(config, interval=hour(1, "same"))
        assert run_here(config, interval=hour(1, "same")).notes == {"already_replayed": True}
        assert read_values(bootstrap, config["topic"]) == [b"a1", b"b1"]
        assert run_here(config).records["written"] == 6
        assert run_here(config, interval=hour(1)).records["written"] == 2
        assert run_here(config).records["written"] == 0

    def test_the_report_says_where_the_records_are_also_after_a_kill_and_again(
        self, config: dict[str, str], run_here: Run, bootstrap: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run_here(config)

        def stop(reached: str) -> None:
            if reached == "before-final-commit":
                raise RetriableError("killed")

        with monkeypatch.context() as patch, pytest.raises(RetriableError, match="killed"):
            patch.setattr(source_run, "failpoint", stop)
            run_here(config, interval=hour(1, "same"))
        produce(bootstrap, config["topic"], ["of others"])
        resumed, again = (run_here(config, interval=hour(1, "same")) for _ in range(2))
        (where,) = resumed.ranges
        records = [r.value for r in read_all(bootstrap, config["topic"]) if where["start"] <= r.offset < where["end"]]
        assert (records, again.ranges) == ([b"a1", b"b1"], resumed.ranges)

    def test_records_go_to_another_topic_if_wanted(self, config: dict[str, str], run_here: Run, bootstrap: str) -> None:
        run_here(config | {"kconnect.replay.topic.suffix": "-again"}, interval=hour(1))
        assert read_values(bootstrap, config["topic"] + "-again") == [b"a1", b"b1"]

    def test_a_dry_run_moves_nothing(self, config: dict[str, str], run_here: Run) -> None:
        report = run_here(config, dry_run=True)
        assert len(report.notes["would_read"]) == 3
        assert run_here(config).records["written"] == 6

    def test_a_source_without_time_says_no(self, run_here: Run) -> None:
        config = {
            "name": unique("source"),
            "connector.class": "VerifiableSource",
            "topic": "t",
            "value.converter": STRING,
        }
        with pytest.raises(ConfigError, match="only resume from its offsets"):
            run_here(config, interval=hour(1))
