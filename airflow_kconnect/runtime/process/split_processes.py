"""Moves splits in Python processes of the job's own: what Spark's workers would do, without Spark.

Spark takes three CPU seconds to start and two for its first job. On a local master, splits for which Catalyst has
nothing to do need none of it: see docs/decisions/0052. The processes are forked from one that is a fork of the driver,
so that nothing is imported twice: see `split_worker`.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import shutil
import signal
import socket
import sys
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.closures import load, pickled
from airflow_kconnect.runtime.process.split_output import SplitOutput
from airflow_kconnect.runtime.process.split_worker import ID, Failure, Move, Task, serve

log = logging.getLogger("kconnect.splits")

_of_this_job: SplitProcesses | None = None
_parent = 0


def start() -> None:
    """Fork the parent of the processes, in a job that could start Spark on this machine.

    To be called once what workers need is imported, and before there are threads, Kafka clients and secrets.
    """
    global _of_this_job, _parent
    if not _could_be_sparks():
        return
    load()
    # If what has started this job ignores it, the system would not keep how a process has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ours, theirs = socket.socketpair()
    output, driver = SplitOutput(), os.getpid()
    try:
        _parent = os.fork()
    except OSError:
        return  # this machine has no process left; what Spark says about that reaches the user
    if _parent == 0:
        ours.close()
        output.use()
        serve(theirs, jvm.worker_environment(), driver)
    theirs.close()
    output.follow()
    _of_this_job = SplitProcesses(ours, output)


def _could_be_sparks() -> bool:
    """Whether Spark's workers would be such processes, of this Python and on this machine.

    With a master `local[N,F]` the user wants what only Spark does: F attempts of each task.
    """
    if not jvm.starts_spark() or not re.fullmatch(r"local(\[(\d+|\*)\])?", jvm.settings().get("spark.master", "")):
        return False
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return Path(shutil.which(python) or python).absolute() == Path(sys.executable)


def end() -> None:
    """End all processes; returns when they are gone."""
    if _of_this_job is not None:
        _of_this_job.close()
        os.waitpid(_parent, 0)
        _of_this_job.pass_on()


def of_this_job() -> SplitProcesses | None:
    """The processes of this job; None if only Spark can move its splits."""
    return _of_this_job


@dataclass(eq=False)
class _Call:
    """A call of `SplitProcesses.run`.

    :param workers: the processes that are moving a split of it.
    """

    move: bytes
    parallelism: int
    hides_pandas: bool
    workers: list[_Worker] = field(default_factory=list)
    ended: bool = False


class _Worker:
    """A process that was forked by the parent, seen from the driver."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self._connection, self._stream = connection, connection.makefile("rwb")
        self._knows: _Call | None = None
        self.hides_pandas = False  # once it does, it can never use pandas again

    def answer(self, call: _Call, split: int) -> str | Failure | None:
        """Have it move a split; returns its report. None: the process has ended."""
        move = None if self._knows is call else call.move
        self._knows, self.hides_pandas = call, self.hides_pandas or call.hides_pandas
        try:
            pickle.dump(Task(split, move, call.hides_pandas), self._stream)
            self._stream.flush()
            answer: str | Failure = pickle.load(self._stream)  # noqa: S301  (from our process)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return answer

    @property
    def is_waiting(self) -> bool:
        """Whether it lives, between two splits."""
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError as error:
            return isinstance(error, BlockingIOError)

    def kill(self) -> None:
        """Must not have been waited for: its id could be that of another process.

        It may be gone, if the parent of all is.
        """
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        for each in (self._stream, self._connection):
            with suppress(OSError):
                each.close()


class SplitProcesses:
    """The processes of a job, for all its connectors and threads; they are kept from one call to the next.

    :param parent: connected to `serve`. :param output: of the processes; None: they have that of this process.
    """

    def __init__(self, parent: socket.socket, output: SplitOutput | None = None) -> None:
        self._parent, self._output = parent, output
        self._asking = threading.Lock()
        self._changed = threading.Condition()
        self._idle: list[_Worker] = []
        self._busy = 0

    def run(self, move: Move, splits: int, parallelism: int) -> list[dict[str, Any]]:
        """Move the splits 0 to `splits` - 1; returns their reports, in this order.

        :param move: called for each split; returns one `report_row`.
        :param parallelism: at most this many processes work at once, for all calls of a job.
        :raises RetriableError: a split has failed, or its process has ended. What else this call was moving is over by
            then.
        """
        call = _Call(pickled(move), parallelism, registry().only_own_loaded)
        with ThreadPoolExecutor(max(min(splits, parallelism), 1), "split") as threads:
            try:
                moving = [threads.submit(copy_context().run, self._moved, call, split) for split in range(splits)]
                done, _ = wait(moving, return_when=FIRST_EXCEPTION)
                return [json.loads(each.result()) for each in moving if each in done]
            finally:
                self._end(call)

    def close(self) -> None:
        """Have all processes end."""
        self._parent.close()

    def pass_on(self) -> None:
        """Pass on to the log all that the processes have printed so far."""
        if self._output is not None:
            self._output.pass_on(last=True)

    def _end(self, call: _Call) -> None:
        with self._changed:
            call.ended = True
            for worker in call.workers:
                worker.kill()
            self._changed.notify_all()

    def _moved(self, call: _Call, split: int) -> str:
        """Move a split once there is a process for it."""
        with self._changed:
            self._changed.wait_for(lambda: call.ended or self._busy < call.parallelism)
            if call.ended:
                raise _over()
            self._busy += 1
            worker = self._taken(call)
        try:
            return self._report(call, split, worker or self._started())
        finally:
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()

    def _taken(self, call: _Call) -> _Worker | None:
        """A process that waits for work."""
        found = None
        for worker in self._idle[::-1]:
            usable = worker.is_waiting and (call.hides_pandas or not worker.hides_pandas)
            if not usable or found is None:
                self._idle.remove(worker)
            if not usable:
                self._exit_code(worker)
            elif found is None:
                found = worker
        return found

    def _report(self, call: _Call, split: int, worker: _Worker) -> str:
        answer, code = None, None
        try:
            with self._changed:
                if call.ended:
                    raise _over()
                call.workers.append(worker)
            answer = worker.answer(call, split)
        finally:
            with self._changed:
                if worker in call.workers:
                    call.workers.remove(worker)
                # What a failed split has left in its process must not reach the next one.
                keeps = isinstance(answer, str) and not call.ended
                if keeps:
                    self._idle.append(worker)
            if not keeps:
                code = self._exit_code(worker)
        if isinstance(answer, str):
            return answer
        self.pass_on()  # the error refers to the lines before it
        if answer is None:
            raise RetriableError(
                f"the Python process that moved split {split} {_how(code)}. SIGKILL is most often from a machine or a"
                " container that has no memory left; the lines before this one may say more. Nothing is lost: the next"
                " run resumes"
            )
        log.error("split %d has failed\n%s", split, answer.trace)
        raise RetriableError(f"split {split} failed: {answer.text}")

    def _started(self) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs, self._asking:
            try:
                socket.send_fds(self._parent, [ID.pack(0)], [theirs.fileno()])
                return _Worker(self._answered(), ours)
            except OSError as error:
                raise RetriableError(f"no Python process can be started for a split: {error}") from error

    def _exit_code(self, worker: _Worker) -> int | None:
        """End a process; returns the exit code of one that had ended by itself. None: the parent has ended too."""
        worker.kill()
        worker.close()
        with self._asking, suppress(OSError):
            self._parent.sendall(ID.pack(worker.pid))
            return self._answered()
        return None

    def _answered(self) -> int:
        data = self._parent.recv(ID.size, socket.MSG_WAITALL)
        if len(data) < ID.size:
            raise OSError("their parent has ended")
        (answer,) = ID.unpack(data)
        return int(answer)


def _over() -> RetriableError:
    return RetriableError("another split of the same round has failed")


def _how(code: int | None) -> str:
    if code is None:
        return "ended together with the parent of all"
    return f"was ended by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"ended with exit code {code}"
