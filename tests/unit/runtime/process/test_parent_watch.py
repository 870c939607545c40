"""A driver ends with the processes that started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.machine.process_tree import is_alive
from tests.support.spark.jobs import kill_all

# Each process starts the next one and tells its id: who waits for spark-submit, its JVM, the driver.
_CHAIN = """
import os, pathlib, subprocess, sys, time
folder, role, *rest = pathlib.Path(sys.argv[1]), *sys.argv[2].split(",")
if role == "submitter":
    os.environ["KCONNECT_SUBMITTER_PID"] = str(os.getpid())
(folder / f"{role}.part").write_text(str(os.getpid()))
(folder / f"{role}.part").rename(folder / role)
if role == "driver":
    from airflow_kconnect.runtime.process.parent_watch import die_with_parent
    die_with_parent()
else:
    subprocess.Popen([sys.executable, "-c", sys.argv[3], sys.argv[1], ",".join(rest), sys.argv[3]])
time.sleep(60)
"""

Start = Callable[..., dict[str, psutil.Process]]


@pytest.fixture
def start(tmp_path: Path, request: pytest.FixtureRequest) -> Start:
    """Starts a chain of processes: `start("submitter", "jvm", "driver")`; all are ended after the test."""

    def go(*roles: str, environment: dict[str, str] | None = None) -> dict[str, psutil.Process]:
        command = [sys.executable, "-c", _CHAIN, str(tmp_path), ",".join(roles), _CHAIN]
        first = subprocess.Popen(command, env={**os.environ, **(environment or {})})
        request.addfinalizer(first.wait)
        deadline = time.monotonic() + 30
        while not all((tmp_path / role).exists() for role in roles):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        chain = {role: psutil.Process(int((tmp_path / role).read_text())) for role in roles}
        request.addfinalizer(lambda: kill_all([*chain.values()]))
        return chain

    return go


def _ends(process: psutil.Process, within_s: float = 20.0) -> bool:
    deadline = time.monotonic() + within_s
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("killed", ["submitter", "jvm"])
def test_the_driver_ends_when_either_is_killed(start: Start, killed: str) -> None:
    chain = start("submitter", "jvm", "driver")
    assert not _ends(chain["driver"], within_s=1.5)

    chain[killed].kill()

    assert _ends(chain["driver"])


def test_a_driver_that_starts_too_late_ends_at_once(start: Start) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    chain = start("jvm", "driver", environment={"KCONNECT_SUBMITTER_PID": str(gone.pid)})

    assert _ends(chain["driver"])


def test_a_live_process_that_is_not_an_ancestor_is_not_waited_for(start: Start) -> None:
    """Something between them, such as a container, may hide who started the driver."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        chain = start("jvm", "driver", environment={"KCONNECT_SUBMITTER_PID": str(other.pid)})

        assert not _ends(chain["driver"], within_s=1.2)
    finally:
        other.kill()
        other.wait()
