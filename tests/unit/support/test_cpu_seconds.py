"""CPU seconds of test files include those of the processes that they start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.cpu_seconds import used_s

# At least these, in a process of its own; then it says so.
_WORK_S = 0.3
_WORK = f"import time\nwhile time.process_time() < {_WORK_S}: pass\nprint(flush=True)"
# Times of processes are counted in hundredths of seconds.
_ALMOST_S = _WORK_S - 0.05


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[bytes]]:
    """A process that works when it is told to, and then waits again; its parent only waits for it."""
    script = f"import sys; sys.stdin.readline()\n{_WORK}\nsys.stdin.read()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {script!r}])"
    process = subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process
    process.communicate()


def _work(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"\n")
    process.stdin.flush()
    process.stdout.readline()


def test_a_process_that_has_ended_counts() -> None:
    before_s = used_s()
    subprocess.run([sys.executable, "-c", _WORK], check=True, stdout=subprocess.DEVNULL)
    assert used_s() - before_s >= _ALMOST_S


def test_a_descendant_that_still_runs_counts(waiting: subprocess.Popen[bytes]) -> None:
    before_s = used_s()
    _work(waiting)
    assert used_s() - before_s >= _ALMOST_S


def test_what_has_counted_does_not_count_again_when_it_ends(waiting: subprocess.Popen[bytes]) -> None:
    _work(waiting)
    before_s = used_s()
    waiting.communicate()
    assert used_s() - before_s < _ALMOST_S
