"""Processes that move splits without Spark, for tests: those of a job are forked from it, and a test has its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.process.split_processes import SplitProcesses

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARENT = """
import json, os, socket, sys
import airflow_kconnect.runtime.sink.run
import airflow_kconnect.runtime.source.run
from airflow_kconnect.runtime.process.closures import load
from airflow_kconnect.runtime.process.split_worker import serve
load()
serve(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]), os.getppid())
"""


@contextmanager
def split_processes(environment: Mapping[str, str]) -> Iterator[tuple[SplitProcesses, subprocess.Popen[bytes]]]:
    """The processes, and their parent. :param environment: they have it in addition to that of this process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", _PARENT, str(theirs.fileno()), json.dumps(environment)]
        parent = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()
        yield SplitProcesses(ours), parent
        ours.close()
        parent.wait(30)


class SparkIfNeeded(LazySession):
    """:param start: returns the session of the tests."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        super().__init__("tests")
        self._start = start

    def _new(self) -> SparkSession:
        return self._start()

    def parallelism(self) -> int:
        return 2
