"""A server that this machine keeps: started in the background, awaited, found again by its pid, stopped."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import psutil

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local import daemon, ports
from airflow_kconnect.machine.errors import SetupError

# The second-best compiler and the simplest collector: a single developer's server starts sooner and stays small.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class LocalServer(ABC):
    """A Java server in a process of its own, which outlives this one until it is stopped.

    :param data_dir: its data folder; created if missing. Starting again with it continues with the same data.
    :param port: its port on the loopback address; None means that of the last start, or a free one.
    :param heap_mb: Java heap in MB.
    :param progress: called with a line of text while it is downloaded and started.
    """

    name: ClassVar[str]
    """What error texts and its files call it."""
    _poll_s: ClassVar[float] = 0.05
    """How often a starting server is asked whether it answers."""

    def __init__(
        self,
        data_dir: Path | str,
        *,
        port: int | None,
        heap_mb: int,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._data = Path(data_dir).expanduser().absolute()
        self._pid_file = daemon.PidFile(self._data / f"{self.name}.pid")
        self._port = port
        self._heap_mb = heap_mb
        self._progress = progress or logging.getLogger(type(self).__module__).info

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self._data / f"{self.name}.log"

    def stop(self, *, timeout_s: float = 30) -> bool:
        """Stop the server gracefully, or by force after `timeout_s` seconds; False if it was not running."""
        running = self._pid_file.process()
        if running is not None:
            daemon.end(running, timeout_s=timeout_s)
        self._pid_file.remove_if_stale()
        return running is not None

    @abstractmethod
    def _address(self) -> str:
        """Where it listens, for error texts."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether it answers by now."""

    @abstractmethod
    def _died(self, exit_code: int) -> SetupError | RetriableError:
        """The error for a process that ended while starting."""

    def _runs_already(self, port: int | None) -> str:
        """The note about a server that is left as it is.

        :param port: the port on which it runs.
        :raises SetupError: another port was requested.
        """
        if self._port not in (None, port):
            raise SetupError(
                f"The {self.name} of {self._data} is already running on port {port}: "
                f"stop it before you start it on port {self._port}."
            )
        return f"The {self.name} is already running."

    def _launch(self, command: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        """Start the process and wait until it answers; without an answer nothing is left running.

        :raises SetupError, RetriableError: it died, or did not answer in time.
        """
        deadline_s = time.monotonic() + timeout_s
        process = daemon.spawn(command, cwd=self._data, log=self.log, env=env)
        try:
            self._pid_file.write(psutil.Process(process.pid))
            while not self._answers():
                if process.poll() is not None:
                    raise self._died(process.returncode)
                if time.monotonic() > deadline_s:
                    raise RetriableError(
                        f"The {self.name} did not answer at {self._address()} within {timeout_s:.0f} s: see {self.log}."
                    )
                time.sleep(self._poll_s)
        except BaseException:
            daemon.kill(process)
            self._pid_file.remove_if_stale()
            raise


def refuse_taken(port: int) -> None:
    """Check that a port is free.

    :raises SetupError: another program listens on it.
    """
    if ports.is_taken(port):
        raise SetupError(
            f"Port {port} is taken by {ports.holder(port)}: stop that, or choose another port with --port."
        )
