"""Runs of a connector as `kconnect run` makes them, each in a process of its own that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.places.libraries import stores_hint
from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runs.spec import RunSpec, run_spec_file
from airflow_kconnect.submit.direct import by_python, starts_spark_itself
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import submit_command, submit_environment

MASTER = "local[2]"
_CONF = {"spark.log.level": "ERROR"}
_TAIL = 5


@dataclass(frozen=True)
class Ended:
    """How a run has ended.

    :param exit_code: of its process; negative if it was killed.
    :param report: what it has reported, if it has. :param error: the members of its error event, if there is one.
    :param output: all that it has printed.
    """

    exit_code: int
    report: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    output: str = field(default="", repr=False)

    @property
    def written(self) -> int:
        """How many records it has moved."""
        return 0 if self.report is None else int(self.report["records"]["written"])

    @property
    def text(self) -> str:
        """Its error, in one line."""
        if self.error is not None:
            return f"{self.error['error']}: {self.error['message']}"
        lines = [line for line in self.output.splitlines() if line.strip()]
        return f"exit code {self.exit_code}: {' | '.join(lines[-_TAIL:])}"


@dataclass
class Job:
    """A run in progress, in a session of its own.

    :param reached: exists while the run stands at its failpoint; removing it lets the run continue.
    """

    process: subprocess.Popen[bytes]
    reached: Path
    _output: Path = field(repr=False)
    _token: str = field(repr=False)

    def wait(self, limit_s: float) -> Ended | None:
        """How it has ended; None if it has not within this time."""
        try:
            code = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        return self._ended(code)

    def wait_for_failpoint(self, limit_s: float) -> bool:
        """Whether it stands at its failpoint; False if it has ended before, or has not reached it within this time."""
        deadline = time.monotonic() + limit_s
        while not self.reached.exists():
            if self.process.poll() is not None or time.monotonic() >= deadline:
                return self.reached.exists()
            time.sleep(0.005)
        return True

    def kill(self) -> None:
        """SIGKILL to all of its processes at once, as when a machine fails."""
        for process in _session_of(self.process.pid):
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _ended(self, code: int) -> Ended:
        output = self._output.read_text(encoding="utf-8", errors="replace")
        events = [event for line in output.splitlines() if (event := parse_event(line, self._token))]
        report = next((event["report"] for event in events if event["event"] == "report"), None)
        error = next((event for event in events if event["event"] == "error"), None)
        return Ended(code, report, error, output)


class Runs:
    """Starts runs of a connector.

    :param worker: the worker's keys. :param folder: for what runs print.
    """

    def __init__(self, subject: Subject, worker: Mapping[str, str], folder: Path) -> None:
        self._subject, self._worker, self._folder = subject, worker, folder

    @contextmanager
    def started(self, config: Mapping[str, str], failpoint: str | None = None) -> Iterator[Job]:
        """A run, which is killed at the end of the block if it is still there.

        :param failpoint: where it stops, until `Job.reached` is removed.
        """
        spec = RunSpec(config=dict(config), worker=dict(self._worker))
        name = uuid.uuid4().hex[:12]
        reached, output = self._folder / f"{name}.reached", self._folder / f"{name}.log"
        with ExitStack() as files:
            command, environment = self._command(files.enter_context(run_spec_file(spec)), config)
            if failpoint is not None:
                environment |= {"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": f"{failpoint}:block:{reached}"}
            with output.open("wb") as out:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,
                )
            job = Job(process, reached, output, spec.token)
            try:
                yield job
            finally:
                if process.poll() is None:
                    job.kill()

    def _command(self, spec: Path, config: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        spark = _spark()
        environment = self._subject.environment(submit_environment(MASTER)) | stores_hint([config])
        conf = _CONF if self._subject.path else with_needs(_CONF, [config], spark)
        command = submit_command(spark, spec, master=MASTER, conf=conf, name="kconnect conformance")
        if starts_spark_itself(MASTER, None, spark):
            return by_python(command, environment, conf)
        return command, environment


@cache
def _spark() -> SparkSubmit:
    return find_spark_submit()


def _session_of(pid: int) -> list[psutil.Process]:
    """A process that was started in its own session, and all others of it, the parents first."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        found = [root, *root.children(recursive=True)]
    others = [process for process in psutil.process_iter() if process not in found and _session(process.pid) == pid]
    return found + others


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None
