"""`kconnect status --watch` in a process of its own, until Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from airflow_kconnect.cli import app
from tests.support import unique


def _command(control_file: Path, *more: str) -> list[str]:
    kconnect = str(Path(sys.executable).with_name("kconnect"))
    return [kconnect, "status", "--watch", "--interval", "0.2", "--worker", str(control_file), *more]


def _listen() -> None:
    """Tests may have been started in the background, where shells have Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _create(control_file: Path) -> str:
    name = unique("lines")
    config = {"name": name, "connector.class": "FileStreamSource", "file": "/x", "topic": "t"}
    result = CliRunner().invoke(app, ["create", "-", "--worker", str(control_file)], input=json.dumps(config))
    assert result.exit_code == 0, result.output
    return name


def test_without_a_terminal_a_change_is_a_line(control_file: Path) -> None:
    name = _create(control_file)
    with subprocess.Popen(
        _command(control_file, "--json", name), stdout=subprocess.PIPE, text=True, preexec_fn=_listen
    ) as watching:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        CliRunner().invoke(app, ["pause", name, "--worker", str(control_file)])
        second = json.loads(watching.stdout.readline())
        watching.send_signal(signal.SIGINT)
        assert (watching.wait(60), first["state"], second["state"]) == (0, "STARTED", "PAUSED")


def test_a_terminal_shows_a_table_and_ctrl_c_ends_it_quietly(control_file: Path) -> None:
    name = _create(control_file)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    with subprocess.Popen(
        _command(control_file, name), stdin=theirs, stdout=theirs, stderr=theirs, env=environment, preexec_fn=_listen
    ) as watching:
        os.close(theirs)
        shown = _read_until(lambda text: name in text and "Ctrl-C ends" in text, ours)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
    assert "Traceback" not in shown


def _read_until(is_enough: Callable[[str], bool], descriptor: int, timeout_s: float = 60) -> str:
    text, deadline = "", time.monotonic() + timeout_s
    while not is_enough(text):
        assert time.monotonic() < deadline, text
        text += os.read(descriptor, 4096).decode(errors="replace")
    return text
