"""The thread that commits while a writer waits for rows."""

from __future__ import annotations

import threading
import time

import pytest

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.runtime.source.commit_clock import CommitClock


def test_it_commits_while_the_writer_waits() -> None:
    committed = threading.Event()
    with CommitClock(committed.set, interval_s=0.01):
        assert committed.wait(10)


def test_it_does_not_commit_during_a_turn_of_the_writer() -> None:
    commits: list[int] = []
    with CommitClock(lambda: commits.append(1), interval_s=0.01) as clock, clock.turn():
        before = len(commits)
        time.sleep(0.1)
        assert len(commits) == before


def test_an_error_of_a_commit_ends_the_writers_next_turn() -> None:
    failed = threading.Event()

    def commit() -> None:
        failed.set()
        raise FencedError("a newer run")

    with CommitClock(commit, interval_s=0.01) as clock:
        assert failed.wait(10)
        with pytest.raises(FencedError, match="a newer run"), clock.turn():
            pytest.fail("the turn began")


def test_its_thread_ends_with_the_block() -> None:
    with CommitClock(lambda: None, interval_s=60) as clock:
        pass
    assert not clock._thread.is_alive()
