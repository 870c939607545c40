"""Starting and stopping a server, with Python's own web server as the program."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local import ports
from airflow_kconnect.local.server import LocalServer, refuse_taken
from airflow_kconnect.machine.errors import SetupError

_WEB = ("-m", "http.server", "--bind", ports.LOOPBACK)
_SILENT = ("-c", "import time; time.sleep(60)")


class WebServer(LocalServer):
    name: ClassVar[str] = "website"

    def __init__(self, data_dir: Path, port: int) -> None:
        super().__init__(data_dir, port=port, heap_mb=0, progress=None)
        self.port = port

    def start(self, *arguments: str, timeout_s: float = 30) -> None:
        self._launch([sys.executable, *arguments], {}, timeout_s)

    def runs_already(self, port: int) -> str:
        return self._runs_already(port)

    def _address(self) -> str:
        return f"{ports.LOOPBACK}:{self.port}"

    def _answers(self) -> bool:
        return ports.is_open(self.port)

    def _died(self, exit_code: int) -> SetupError:
        return SetupError(f"ended with {exit_code}")


@pytest.fixture
def port() -> int:
    return ports.free_port()


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[WebServer]:
    server = WebServer(tmp_path, port)
    yield server
    server.stop()


@pytest.fixture
def start(server: WebServer, port: int) -> Callable[[], None]:
    return lambda: server.start(*_WEB, str(port))


class TestStart:
    def test_returns_when_the_server_answers(self, start: Callable[[], None], port: int) -> None:
        start()
        assert ports.is_open(port)

    def test_the_output_is_in_the_log(self, server: WebServer, start: Callable[[], None], tmp_path: Path) -> None:
        start()
        assert server.log == tmp_path / "website.log"
        assert server.log.exists()

    def test_a_process_that_ends_is_an_error_with_its_exit_code(self, server: WebServer) -> None:
        with pytest.raises(SetupError, match="ended with 7"):
            server.start("-c", "raise SystemExit(7)")

    def test_without_an_answer_in_time_nothing_is_left_running(self, server: WebServer) -> None:
        with pytest.raises(
            RetriableError, match=rf"website did not answer at .*:{server.port} within 0 s: see .*\.log"
        ):
            server.start(*_SILENT, timeout_s=0.2)
        assert not server.stop()


class TestStop:
    def test_a_server_that_another_object_has_started(
        self, start: Callable[[], None], tmp_path: Path, port: int
    ) -> None:
        start()
        assert WebServer(tmp_path, port).stop()
        assert not ports.is_open(port)

    def test_a_server_that_does_not_run(self, server: WebServer) -> None:
        assert not server.stop()


class TestRunsAlready:
    def test_on_the_requested_port_it_is_left_as_it_is(self, server: WebServer, port: int) -> None:
        assert server.runs_already(port) == "The website is already running."

    def test_on_another_port_is_an_error(self, server: WebServer, port: int) -> None:
        with pytest.raises(
            SetupError, match=rf"is already running on port 7: stop it before you start it on port {port}\."
        ):
            server.runs_already(7)


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind((ports.LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(SetupError, match=f"Port {port} is taken by process"):
            refuse_taken(port)


def test_a_free_port_is_not(port: int) -> None:
    refuse_taken(port)
