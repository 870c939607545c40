"""Python processes that move splits without Spark: their parent, which forks them, and what each of them does.

The parent is a fork of the driver from before it had threads, a Kafka client or a secret; see `split_processes`, whose
requests it serves. A worker moves one split at a time, and ends with the driver, however that ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from typing import NoReturn

import pyarrow as pa

from airflow_kconnect.connect.errors import in_one_line
from airflow_kconnect.runtime.process.late_imports import hide_pandas
from airflow_kconnect.runtime.process.memory import use_few_arenas
from airflow_kconnect.runtime.process.parent_watch import end_with_parent, name_process

Move = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Moves the splits of which it gets the numbers, in the first column, and returns a `report_row` for each."""

ID = struct.Struct("!i")
"""A request to the parent: 0 and a socket, to fork a worker that serves it; or the process id of a worker that ends.
The answer is the id of the new process, or the exit code of the old one.
"""

_number: int | None = None


@dataclass(frozen=True)
class Task:
    """A split to move.

    :param move: pickled; None: as before.
    :param hides_pandas: see `late_imports`.
    """

    split: int
    move: bytes | None
    hides_pandas: bool


@dataclass(frozen=True)
class Failure:
    """A split has failed.

    :param trace: the traceback, for the log.
    """

    text: str
    trace: str


def this_split() -> int:
    """The number of the split that this task moves, in a process of this module or in one of Spark's."""
    if _number is not None:
        return _number
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def serve(control: socket.socket, environment: Mapping[str, str], driver: int) -> NoReturn:
    """Be the parent, until the driver ends.

    :param environment: of the workers, in addition to that of the driver. :param driver: its process id.
    """
    try:
        end_with_parent(driver)
        name_process("kconnect-parent")
        os.environ.update(environment)
        os.dup2(2, 1)  # what workers print is for the log, as with Spark
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # what two of them print at once does not share lines
        use_few_arenas()
        # All existing objects live as long as the workers, whose garbage collection can ignore them.
        gc.freeze()
        workers: set[int] = set()
        while True:
            message, files, _, _ = socket.recv_fds(control, ID.size, 1)
            if not message:
                break
            if files:
                answer = _forked(control, files[0])
                workers.add(answer)
            else:
                (pid,) = ID.unpack(message)
                answer = _ended(pid)
                workers.discard(pid)
            control.sendall(ID.pack(answer))
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
            _ended(pid)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _forked(control: socket.socket, file: int) -> int:
    own = os.getpid()
    if pid := os.fork():
        os.close(file)
        return pid
    try:
        control.close()
        end_with_parent(own)
        name_process("kconnect-split")
        _work(socket.socket(fileno=file))
    finally:
        os._exit(1)


def _ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _work(connection: socket.socket) -> NoReturn:
    """Move splits until the driver closes the connection."""
    move, hidden = b"", False
    with connection.makefile("rwb") as stream:
        while True:
            try:
                task: Task = pickle.load(stream)  # noqa: S301  (from the driver)
            except EOFError:
                os._exit(0)
            if task.hides_pandas and not hidden:
                hide_pandas()
                hidden = True
            move = task.move or move
            answer = _report(move, task.split)
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            pickle.dump(answer, stream)
            stream.flush()


def _report(pickled: bytes, split: int) -> str | Failure:
    """The report of a split, as text. Nothing stays of one split in the next: the function is unpickled for each."""
    global _number
    _number = split
    try:
        move: Move = pickle.loads(pickled)  # noqa: S301  (from the driver)
        rows = [row for batch in move(iter([_numbers(split)])) for row in batch.to_pylist()]
        (report,) = (str(row["report"]) for row in rows)
        return report
    except BaseException as error:
        return Failure(in_one_line(error), traceback.format_exc())


def _numbers(split: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([split], pa.int64())], ["id"])
