"""The file with the last known connectors."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.operators.registered.entries import Entry
from airflow_kconnect.operators.registered.snapshot import SnapshotFile


class Topic:
    """What is read; counts how often."""

    def __init__(self) -> None:
        self.names: Sequence[str] | None = ["a"]
        self.reads = 0

    def read(self) -> list[Entry]:
        self.reads += 1
        if self.names is None:
            raise RetriableError("no Kafka broker answers")
        return [Entry(name, "source", {"name": name}) for name in self.names]


@pytest.fixture
def topic() -> Topic:
    return Topic()


def names(file: SnapshotFile, topic: Topic, signature: str = "") -> list[str]:
    return [entry.name for entry in file.get(topic.read, signature).entries]


def age(cache: Path, seconds: float) -> None:
    """Make what is in the cache older."""
    for file in cache.glob("*.json"):
        fields = json.loads(file.read_text())
        fields["tried_s"] -= seconds
        fields["read_s"] = fields["read_s"] and fields["read_s"] - seconds
        file.write_text(json.dumps(fields))


def test_is_read_once_within_its_time(topic: Topic) -> None:
    for _ in range(3):
        assert names(SnapshotFile(["x"], 60), topic) == ["a"]

    assert topic.reads == 1


def test_is_read_again_when_it_is_old(topic: Topic, cache: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)
    topic.names = ["a", "b"]
    age(cache, 61)

    assert names(SnapshotFile(["x"], 60), topic) == ["a", "b"]


def test_is_read_again_when_the_files_change(topic: Topic) -> None:
    names(SnapshotFile(["x"], 60), topic, "1")
    topic.names = ["b"]

    assert names(SnapshotFile(["x"], 60), topic, "2") == ["b"]


def test_stays_in_use_while_reading_fails(topic: Topic, cache: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)
    topic.names = None
    age(cache, 61)

    snapshot = SnapshotFile(["x"], 60).get(topic.read)

    assert ([entry.name for entry in snapshot.entries], snapshot.problem) == (["a"], "no Kafka broker answers")


def test_a_failure_is_not_tried_again_at_once(topic: Topic) -> None:
    topic.names = None
    for _ in range(3):
        assert SnapshotFile(["x"], 60).get(topic.read).read_s is None

    assert topic.reads == 1


def test_recovers(topic: Topic, cache: Path) -> None:
    topic.names = None
    SnapshotFile(["x"], 60).get(topic.read)
    topic.names = ["a"]
    age(cache, 61)

    assert SnapshotFile(["x"], 60).get(topic.read).problem is None


def test_others_have_files_of_their_own(topic: Topic) -> None:
    names(SnapshotFile(["x"], 60), topic)
    topic.names = ["b"]

    assert names(SnapshotFile(["y"], 60), topic) == ["b"]


def test_only_its_owner_can_read_it(topic: Topic, cache: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)

    assert {oct(file.stat().st_mode & 0o777) for file in cache.iterdir()} == {"0o600"}
    assert oct(cache.stat().st_mode & 0o777) == "0o700"


def test_a_file_that_others_may_write_is_ignored(topic: Topic, cache: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)
    (file,) = cache.glob("*.json")
    file.chmod(0o622)
    topic.names = ["b"]

    assert names(SnapshotFile(["x"], 60), topic) == ["b"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"entries": 1}', '{"entries": [], "other": 1}'])
def test_a_damaged_file_is_ignored(topic: Topic, cache: Path, content: str) -> None:
    names(SnapshotFile(["x"], 60), topic)
    (file,) = cache.glob("*.json")
    file.write_text(content)

    assert names(SnapshotFile(["x"], 60), topic) == ["a"]


def test_a_symbolic_link_is_not_followed(topic: Topic, cache: Path, tmp_path: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)
    (file,) = cache.glob("*.json")
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    topic.names = ["b"]

    assert names(SnapshotFile(["x"], 60), topic) == ["b"]


def test_files_of_former_days_are_removed(topic: Topic, cache: Path) -> None:
    names(SnapshotFile(["x"], 60), topic)
    (old,) = cache.glob("*.json")
    os.utime(old, (time.time() - 8 * 86_400,) * 2)

    names(SnapshotFile(["y"], 60), topic)

    assert not old.exists()


def test_without_a_place_for_it_everything_is_read_each_time(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", "/proc/nowhere")

    assert [names(SnapshotFile(["x"], 60), topic) for _ in range(2)] == [["a"], ["a"]]
    assert topic.reads == 2
