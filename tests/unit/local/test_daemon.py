"""Processes with a pid file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.local import daemon
from airflow_kconnect.machine.process_tree import is_alive

_DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[psutil.Popen]:
    process = daemon.spawn(["sleep", "60"], cwd=tmp_path, log=tmp_path / "log")
    yield process
    daemon.kill(process)


class TestPidFile:
    def test_finds_its_process(self, tmp_path: Path, sleeper: psutil.Popen) -> None:
        pid_file = daemon.PidFile(tmp_path / "pid")
        pid_file.write(psutil.Process(sleeper.pid))
        process = pid_file.process()
        assert process is not None
        assert process.pid == sleeper.pid
        assert not pid_file.remove_if_stale()

    @pytest.mark.parametrize(
        "text",
        [
            json.dumps({"pid": os.getpid(), "started_epoch_s": 1.0}),
            json.dumps({"pid": 2**22 + 1, "started_epoch_s": 1.0}),
            json.dumps({"pid": "x"}),
            json.dumps([]),
            "",
            "4711",
        ],
        ids=["recycled pid", "no such pid", "no number", "no object", "empty", "bare number"],
    )
    def test_stale(self, tmp_path: Path, text: str) -> None:
        pid_file = daemon.PidFile(tmp_path / "pid")
        pid_file.path.write_text(text)
        assert pid_file.process() is None
        assert pid_file.remove_if_stale()
        assert not pid_file.remove_if_stale()

    def test_a_zombie_does_not_run(self, tmp_path: Path, sleeper: psutil.Popen) -> None:
        pid_file = daemon.PidFile(tmp_path / "pid")
        pid_file.write(psutil.Process(sleeper.pid))
        os.kill(sleeper.pid, 9)
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        assert pid_file.process() is None


class TestEnd:
    def test_own_session(self, sleeper: psutil.Popen) -> None:
        assert os.getsid(sleeper.pid) == sleeper.pid

    def test_a_frozen_process_ends(self, sleeper: psutil.Popen) -> None:
        sleeper.suspend()
        daemon.end(sleeper, timeout_s=5)
        assert not is_alive(sleeper)

    def test_a_deaf_process_is_killed(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        deaf = daemon.spawn([sys.executable, "-c", _DEAF], cwd=tmp_path, log=log)
        while "up" not in log.read_text():
            assert is_alive(deaf)
        daemon.end(deaf, timeout_s=0.2)
        assert not is_alive(deaf)

    def test_an_ended_process_is_not_an_error(self, sleeper: psutil.Popen) -> None:
        daemon.kill(sleeper)
        daemon.kill(sleeper)
        daemon.end(sleeper, timeout_s=1)


class TestLog:
    def test_a_long_log_is_moved_away(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(daemon, "_LOG_TO_KEEP_BYTES", 5)
        log = tmp_path / "log"
        for word in ("first one", "second one"):
            daemon.spawn(["echo", word], cwd=tmp_path, log=log).wait()
        assert (log.read_text(), (tmp_path / "log.1").read_text()) == ("second one\n", "first one\n")

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (
                "INFO a\n[t] ERROR bad x\njava.E: Exception\n\tat a.b\n\t... 5 more\nINFO z\n",
                "[t] ERROR bad x\njava.E: Exception",
            ),
            ("usage\nsaid something\n", "usage\nsaid something"),
            ("", ""),
        ],
    )
    def test_last_errors(self, tmp_path: Path, text: str, told: str) -> None:
        (tmp_path / "log").write_text(text)
        assert daemon.last_errors(tmp_path / "log") == told

    def test_last_errors_of_no_log(self, tmp_path: Path) -> None:
        assert daemon.last_errors(tmp_path / "log") == ""
