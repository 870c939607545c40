"""A background process with a pid file: started in its own session, ended by its own pid, never by its name."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from airflow_kconnect.machine.environment import child_environment
from airflow_kconnect.machine.process_tree import is_alive

# In practice, two readings of a process's start time may differ by a clock correction, never by more than this.
_SAME_START_S = 2.0
_LOG_TO_KEEP_BYTES = 10_000_000
_TAIL_BYTES = 64_000
_FRAME = re.compile(r"\s+(at |\.\.\. )")
_COMPLAINT = re.compile(r" (ERROR|FATAL) |Exception|Error: ")


@dataclass(frozen=True)
class PidFile:
    """Remembers which process is running, by its pid and its start time: a recycled pid is not mistaken for it."""

    path: Path

    def write(self, process: psutil.Process) -> None:
        """Record a process that was just started."""
        self.path.write_text(json.dumps({"pid": process.pid, "started_epoch_s": process.create_time()}))

    def process(self) -> psutil.Process | None:
        """The process, if it is alive; None if the file is missing, unreadable or stale."""
        try:
            remembered = json.loads(self.path.read_text())
            process = psutil.Process(int(remembered["pid"]))
            same = abs(process.create_time() - float(remembered["started_epoch_s"])) < _SAME_START_S
            return process if same and is_alive(process) else None
        except (OSError, ValueError, KeyError, TypeError, psutil.NoSuchProcess):
            return None

    def remove_if_stale(self) -> bool:
        """Remove a file whose process is no longer alive; True if there was one."""
        if not self.path.exists() or self.process() is not None:
            return False
        self.path.unlink(missing_ok=True)
        return True


def spawn(command: Sequence[str], *, cwd: Path, log: Path, env: Mapping[str, str] | None = None) -> psutil.Popen:
    """Start a process in its own session, with its output appended to a log file.

    :param env: None means that of this process; Airflow's settings are left out of it.
    :param log: a log of more than 10 MB is first moved to `<log>.1`.
    """
    if log.exists() and log.stat().st_size > _LOG_TO_KEEP_BYTES:
        log.replace(log.with_name(log.name + ".1"))
    with log.open("ab") as output:
        return psutil.Popen(
            command,
            cwd=cwd,
            env=child_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def end(process: psutil.Process, *, timeout_s: float) -> None:
    """End a process: SIGTERM, and SIGKILL if it still exists after `timeout_s` seconds."""
    try:
        # A stopped process (SIGSTOP) would never see the SIGTERM.
        process.resume()
        process.terminate()
        process.wait(timeout_s)
    except psutil.TimeoutExpired:
        kill(process)
    except psutil.NoSuchProcess:
        return


def kill(process: psutil.Process) -> None:
    """End a process at once (SIGKILL) and wait until it is gone."""
    try:
        process.kill()
        process.wait(60)
    except psutil.NoSuchProcess:
        return


def last_errors(log: Path, count: int = 4) -> str:
    """The last errors of a Java program in its log, without stack frames; its last lines if there are none."""
    if not log.is_file():
        return ""
    with log.open("rb") as tail:
        tail.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = [line for line in tail.read().decode(errors="replace").splitlines() if not _FRAME.match(line)]
    return "\n".join(([line for line in lines if _COMPLAINT.search(line)] or lines)[-count:])
