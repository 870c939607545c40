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
    command = [str(Path(sys.executable).with_name("kconnect")), "rest", "--port", "0", "--worker", str(worker_file)]
    command += [] if token else ["--no-token"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"} | ({"KCONNECT_REST_TOKEN": token} if token else {})
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            match = re.search(r"http://\S+", server.stdout.readline())
            assert match
            yield match[0]
        finally:
            server.terminate()
