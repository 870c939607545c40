"""A JVM that this process controls through py4j; it never outlives this process, however that ends."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from airflow_kconnect.hosted.jvm.class_archive import ClassArchive
from airflow_kconnect.hosted.jvm.gateway import HostGateway, JavaEnded, OwnGateway
from airflow_kconnect.hosted.jvm.log import LogPump
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java, java_environment

log = logging.getLogger("kconnect.hosted")

_PR_SET_PDEATHSIG = 1
# Starts and short runs execute much code a few times: the quick compiler and the simplest collector suit them.
_OPTIONS = (
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    # The classes of MBean servers and of Java's future tasks are not public, but are what py4j is handed.
    "--add-opens=java.management/com.sun.jmx.mbeanserver=ALL-UNNAMED",
    "--add-opens=java.management/javax.management=ALL-UNNAMED",
)
_GATEWAY = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
_START_S = 60.0
_ARCHIVE_S = 60.0
# Longer than anything that is asked: a JVM that is silent for so long hangs.
_ANSWER_S = 150.0


class HostJvm(HostGateway):
    """One JVM with a py4j gateway on the loopback address, which requires a token. Use it as a context manager,
    in a thread that stays as long as it is needed: Linux ends a JVM with the thread that has started it.

    Secrets reach it through the gateway, never on its command line.

    :param java: the launcher.
    :param class_path: jars.
    :param folder: private, for its log and its working directory.
    :param memory: heap, such as ``512m``.
    :param options: further Java options.
    :param appended: jars after those of the class path. An archive of classes that was written without them is used,
        and none is written.
    """

    def __init__(
        self,
        java: Java,
        class_path: Sequence[Path],
        folder: Path,
        *,
        memory: str = "512m",
        options: Sequence[str] = (),
        appended: Sequence[Path] = (),
    ) -> None:
        super().__init__(folder, LogPump(folder))
        jars = os.pathsep.join(map(str, [*class_path, *appended]))
        self._archive = ClassArchive(java, class_path, is_written=not appended)
        self._command = [str(java.path), f"-Xmx{memory}", *_OPTIONS, *self._archive.options(), *options]
        self._command += [f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}", "-cp", jars, *_GATEWAY]
        self._process: subprocess.Popen[str] | None = None
        self._parameters: Any = None
        self._clients: weakref.WeakSet[Any] = weakref.WeakSet()
        self._left: weakref.WeakSet[Any] = weakref.WeakSet()

    def __enter__(self) -> HostJvm:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def start(self) -> None:
        """Start it; returns when the gateway answers.

        :raises SetupError: it ended at once; the text has what it printed.
        """
        from py4j.java_gateway import GatewayParameters

        # What fails is raised; py4j would also log it, once for each attempt.
        logging.getLogger("py4j.java_gateway").setLevel(logging.CRITICAL)
        logging.getLogger().addFilter(_not_of_py4j)
        self.log.prepare()
        self._process = subprocess.Popen(
            self._command,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=java_environment(),
            # Not a new session: a signal to the session of this job also ends the JVM.
            preexec_fn=_die_with_parent(),
        )
        try:
            port, token = self._greeting()
        except BaseException:
            self.kill()
            raise
        assert self._process.stdout is not None
        self.log.follow(self._process.stdout)
        self._parameters = GatewayParameters(port=port, auth_token=token, auto_convert=True, read_timeout=_ANSWER_S)
        self._gateway = self.new_gateway()

    def connect(self, folder: Path) -> JvmConnection:
        """Another connection to it.

        :param folder: private to its user.
        """
        return JvmConnection(self, folder)

    def another(self) -> JvmConnection:
        """A connection for another thread."""
        return self.connect(self.folder)

    def new_gateway(self) -> Any:
        """A gateway of py4j."""
        from py4j.java_gateway import JavaGateway

        gateway = JavaGateway(gateway_parameters=self._parameters)
        self._clients.add(gateway._gateway_client)
        return gateway

    def disconnect(self, gateway: Any) -> None:
        """End the threads in Java that answer a gateway which is no longer used. py4j frees Java's objects some time
        later, with Python's own, and connects again for that: these threads end with the next that is disconnected.
        """
        self._left.add(gateway._gateway_client)
        for client in list(self._left):
            client.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def has_ended(self) -> bool:
        """Whether it has ended; one that is just ending is waited for."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
        return not self.is_alive

    def ended(self, doing: str) -> JavaEnded:
        """The error for a JVM that ended while something was asked of it."""
        code: int | None = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(5)
        return JavaEnded(f"{doing}: Java {_end(code)}.{self.log.last_words()}")

    def finish(self) -> None:
        """End it; if there is no class archive yet, let it write one first."""
        if self._archive.is_wanted and self._process is not None and self._process.stdin is not None:
            log.info("preparing Connect's classes for Java, so that the next runs start sooner")
            self._process.stdin.close()  # the gateway then ends the JVM
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self._process.wait(_ARCHIVE_S) == 0:
                    self._archive.keep()
        self.kill()

    def kill(self) -> None:
        """End it at once (SIGKILL), and wait for its end."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for client in list(self._clients):
            client.is_connected = False  # no one is left whose objects could be freed
        self._archive.discard()
        self.log.close()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _greeting(self) -> tuple[int, str]:
        """Port and token, which the gateway prints first."""
        assert self._process is not None and self._process.stdout is not None
        watchdog = threading.Timer(_START_S, self._process.kill)
        watchdog.start()
        lines: list[str] = []
        try:
            # A JVM may first say something about its options.
            for line in self._process.stdout:
                lines.append(line.rstrip("\n"))
                if len(lines) >= 2 and lines[-2].isdigit():
                    return int(lines[-2]), lines[-1]
        finally:
            watchdog.cancel()
        code = self._process.wait()
        raise SetupError(f"Java {_end(code)} at its start: {' / '.join(lines[-3:]) or 'it printed nothing'}")


class JvmConnection(OwnGateway):
    """One of several connections to a JVM."""

    def __init__(self, jvm: HostJvm, folder: Path) -> None:
        super().__init__(folder, jvm.log)
        self._jvm = jvm
        self._gateway = jvm.new_gateway()

    @property
    def is_alive(self) -> bool:
        """Whether the JVM runs."""
        return self._jvm.is_alive

    def has_ended(self) -> bool:
        """Whether it has ended; one that is just ending is waited for."""
        return self._jvm.has_ended()

    def ended(self, doing: str) -> JavaEnded:
        """The error for a JVM that ended while something was asked of it."""
        return self._jvm.ended(doing)

    def another(self) -> JvmConnection:
        """A connection to the same JVM, for another thread."""
        return self._jvm.connect(self.folder)

    def close(self) -> None:
        """End it: its thread in Java ends."""
        self._jvm.disconnect(self._gateway)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j logs some errors to the root logger, with a traceback."""
    return "py4j" not in record.pathname


def _end(code: int | None) -> str:
    if code is None:
        return "does not answer"
    if code < 0:
        name = signal.Signals(-code).name
        return f"was ended by {name}" + (" (by the system if memory was short)" if name == "SIGKILL" else "")
    if code == 3:
        return "ran out of memory: raise `kconnect.hosted.memory` (exit code 3)"
    return f"ended with exit code {code}: a plug-in has called System.exit, or the JVM has crashed"


def _die_with_parent() -> Callable[[], None] | None:
    """Has the system kill the child when the thread that started it ends; elsewhere the closed pipe ends it."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return ask
