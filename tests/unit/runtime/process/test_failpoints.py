"""Points at which a test stops a run; nothing at all outside tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.runtime.process.failpoints import failpoint

Arm = Callable[[str], Path]


@pytest.fixture
def arm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Arm:
    """`arm("name:touch")` sets the failpoint and returns the file that says that it was reached."""

    def set_it(point: str) -> Path:
        reached = tmp_path / "with:colon" / "reached"
        reached.parent.mkdir()
        monkeypatch.setenv("KCONNECT_TESTING", "1")
        monkeypatch.setenv("KCONNECT_FAILPOINT", f"{point}:{reached}")
        return reached

    return set_it


def test_reaching_the_point_makes_the_file(arm: Arm) -> None:
    reached = arm("here:touch")
    failpoint("here")
    assert reached.exists()


def test_another_point_does_nothing(arm: Arm) -> None:
    reached = arm("here:touch")
    failpoint("there")
    assert not reached.exists()


@pytest.mark.parametrize("value", [None, "", "0", "true"], ids=repr)
def test_it_does_nothing_unless_the_process_is_under_test(
    arm: Arm, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    reached = arm("here:touch")
    monkeypatch.delenv("KCONNECT_TESTING")
    if value is not None:
        monkeypatch.setenv("KCONNECT_TESTING", value)
    failpoint("here")
    assert not reached.exists()


def test_it_does_nothing_without_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_TESTING", "1")
    monkeypatch.delenv("KCONNECT_FAILPOINT", raising=False)
    failpoint("here")


def test_the_second_time_passes(arm: Arm) -> None:
    reached = arm("here:touch")
    failpoint("here")
    reached.unlink()
    failpoint("here")
    assert not reached.exists()


def test_a_block_waits_until_the_file_is_gone(arm: Arm) -> None:
    reached = arm("here:block")
    blocked = threading.Thread(target=failpoint, args=("here",), daemon=True)
    blocked.start()
    deadline = time.monotonic() + 30
    while not reached.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    alive_before = blocked.is_alive()
    reached.unlink()
    blocked.join(30)
    assert (alive_before, blocked.is_alive()) == (True, False)
