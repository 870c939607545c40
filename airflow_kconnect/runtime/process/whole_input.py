"""Whether the input of a task in a Python worker has ended, or only Spark's side of the connection."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TypeVar

from airflow_kconnect.connect.errors import InternalError, RetriableError

T = TypeVar("T")

_WORKER = "pyspark.worker"
_INPUT = "infile"


def whole(batches: Iterator[T]) -> Iterator[T]:
    """The batches of a Spark partition, all of them or an error.

    When the JVM's part of a task fails, for example because a database has closed a connection, Spark closes the
    connection to the Python worker. Arrow takes that for the end of its stream: the worker would believe that it has
    seen every row, and commit. After the last row of a task that is still running, the connection is open.

    :raises RetriableError: the task has failed. Users see the error that Spark reports from the JVM, not this one.
    :raises InternalError: this PySpark keeps its connection elsewhere.
    """
    yield from batches
    if _WORKER in sys.modules and _closed(_input_of_worker(sys._getframe())):
        raise RetriableError("Spark has given up this task before its last row")


def _input_of_worker(frame: FrameType | None) -> int:
    """The file descriptor of the connection from which PySpark's worker reads: its `main` has it as `infile`."""
    while frame is not None:
        if _INPUT in frame.f_code.co_varnames and (stream := frame.f_locals.get(_INPUT)) is not None:
            descriptor: int = stream.fileno()
            return descriptor
        frame = frame.f_back
    raise InternalError("the connection of this Python worker to Spark was not found: is this PySpark a supported one?")


def _closed(descriptor: int) -> bool:
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
