"""Ending a program with everything that it started."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from airflow_kconnect.machine.process_tree import kill_tree
from tests.support.spark.jobs import is_running

# A parent, a child, and a grandchild that leads a process group of its own, as a PySpark daemon does.
_TREE = """
import os, pathlib, subprocess, sys, time
folder = pathlib.Path(sys.argv[1])
grandchild = (
    "import os, pathlib, signal, sys, time\\n"
    "os.setpgid(0, 0)\\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN) if sys.argv[2] == 'stubborn' else None\\n"
    "pathlib.Path(sys.argv[1], 'grandchild').write_text(str(os.getpid()))\\n"
    "time.sleep(300)\\n"
)
child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}, *sys.argv[1:]])"
subprocess.Popen([sys.executable, "-c", child, *sys.argv[1:]])
time.sleep(300 if sys.argv[3] == "stay" else 1)
"""


def _start(folder: Path, temper: str, parent: str = "stay") -> tuple[subprocess.Popen[bytes], int]:
    process = subprocess.Popen([sys.executable, "-c", _TREE, str(folder), temper, parent], start_new_session=True)
    file = folder / "grandchild"
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, int(file.read_text())


class TestKillTree:
    @pytest.mark.parametrize("temper", ["obedient", "stubborn"])
    def test_ends_all_processes_of_the_tree(self, tmp_path: Path, temper: str) -> None:
        process, grandchild = _start(tmp_path, temper)

        kill_tree(process.pid, grace_s=0.5)

        assert not is_running(grandchild)
        assert process.wait(30) != 0

    def test_leaves_the_exit_code_to_the_waiting_process(self, tmp_path: Path) -> None:
        process, _ = _start(tmp_path, "obedient")

        kill_tree(process.pid)

        assert process.wait(30) == -15

    def test_finds_processes_whose_parent_has_gone(self, tmp_path: Path) -> None:
        process, grandchild = _start(tmp_path, "obedient", "go")
        deadline = time.monotonic() + 30
        while is_running(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert is_running(grandchild)

        kill_tree(process.pid)

        assert not is_running(grandchild)
        process.wait(30)

    def test_a_process_that_has_gone_is_not_an_error(self) -> None:
        process = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
        process.wait()

        kill_tree(process.pid)
