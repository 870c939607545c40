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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.java.class_archive import ClassArchive
from airflow_kconnect.hosted.java.log import LogPump
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java, java_environment

log = logging.getLogger("kconnect.hosted")

T = TypeVar("T")

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


class JavaEnded(RetriableError):
    """The JVM has ended by itself: it was killed, ran out of memory, or a plug-in called `System.exit`."""


class HostJvm:
    """One JVM with a py4j gateway on the loopback address, which requires a token. Use it as a context manager.

    Secrets reach it through the gateway or its environment, never on its command line.

    :param java: the launcher.
    :param class_path: jars.
    :param folder: private to this run, for its log and its working directory.
    :param memory: heap, such as ``512m``.
    :param environment: variables added to those of this process.
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
        environment: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        appended: Sequence[Path] = (),
    ) -> None:
        self._folder, self._environment = folder, dict(environment or {})
        jars = os.pathsep.join(map(str, [*class_path, *appended]))
        self._archive = ClassArchive(java, class_path, is_written=not appended)
        self._command = [str(java.path), f"-Xmx{memory}", *_OPTIONS, *self._archive.options(), *options]
        self._command += [f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}", "-cp", jars, *_GATEWAY]
        self._process: subprocess.Popen[str] | None = None
        self._gateway: Any = None
        self.log = LogPump(folder)

    def __enter__(self) -> HostJvm:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()

    def start(self) -> None:
        """Start it; returns when the gateway answers.

        :raises SetupError: it ended at once; the text has what it printed.
        """
        from py4j.java_gateway import GatewayParameters, JavaGateway

        # What fails is raised; py4j would also log it, once for each attempt.
        logging.getLogger("py4j.java_gateway").setLevel(logging.CRITICAL)
        logging.getLogger().addFilter(_not_of_py4j)
        self.log.prepare()
        self._process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**java_environment(), **self._environment},
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
        parameters = GatewayParameters(port=port, auth_token=token, auto_convert=True, read_timeout=_ANSWER_S)
        self._gateway = JavaGateway(gateway_parameters=parameters)

    @property
    def folder(self) -> Path:
        """The folder that is private to this run."""
        return self._folder

    @property
    def view(self) -> Any:
        """Java's packages: `view.java.util.HashMap()`."""
        return self._gateway.jvm

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def array(self, of: Any, *items: Any) -> Any:
        """A Java array."""
        array = self._gateway.new_array(of, len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array

    def items(self, collection: Any) -> list[Any]:
        """What is in a Java collection. py4j's own iteration takes any error for the end: part of a collection, or
        nothing of it, would pass for the whole.
        """
        return list(collection.toArray())

    def text_map(self, texts: Mapping[str, str]) -> Any:
        """A `java.util.HashMap` of texts."""
        result = self.view.java.util.HashMap()
        for key, text in texts.items():
            result.put(key, text)
        return result

    def java_class(self, name: str) -> Any:
        """A `java.lang.Class` by its name."""
        return self.view.java.lang.Class.forName(name)

    def call(self, doing: str, function: Callable[[], T], *, timeout_s: float | None = None) -> T:
        """The result of a function that uses the gateway.

        :param doing: for the text of the error.
        :param timeout_s: how long it may take; it runs in a thread of its own then, which is abandoned.
        :raises JavaEnded: the JVM has ended. :raises RetriableError: it took too long.
        :raises Py4JJavaError: Java threw an exception.
        """
        from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

        try:
            return function() if timeout_s is None else _in_time(doing, function, timeout_s)
        except Py4JJavaError:
            raise
        except (Py4JError, OSError) as error:
            # A call that is cut off may have any of these errors.
            if isinstance(error, Py4JNetworkError | OSError) or self._has_ended():
                raise self.ended(doing) from None
            raise

    def _has_ended(self) -> bool:
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
        if self._gateway is not None:
            # No one is left whose objects could be freed.
            self._gateway._gateway_client.is_connected = False
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


def _in_time(doing: str, function: Callable[[], T], timeout_s: float) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="hosted-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise RetriableError(f"{doing} did not end within {timeout_s:.0f} s")
    if errors:
        raise errors[0]
    return results[0]
