"""`kconnect rest` in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def rest_server(worker_file: Path, token: str | None = None) -> Iterator[str]:
    """The URL of a server on a free port, for the topics of a worker file."""
    server, url = start_rest_server(worker_file, token)
    with server:
        try:
            yield url
        finally:
            server.terminate()


def start_rest_server(worker_file: Path, token: str | None = None) -> tuple[subprocess.Popen[str], str]:
    """The same, for the caller to end: the process, and the URL."""
    command = [str(Path(sys.executable).with_name("kconnect")), "rest", "--port", "0", "--worker", str(worker_file)]
    command += [] if token else ["--no-token"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"} | ({"KCONNECT_REST_TOKEN": token} if token else {})
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    match = re.search(r"http://\S+", server.stdout.readline())
    assert match
    return server, match[0]
