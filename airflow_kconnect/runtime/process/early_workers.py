"""The parent of Python workers, started together with Spark's JVM, which would start it only for the first task.

It imports what workers need while the JVM starts, and then takes the place of the process that Spark starts (see
`handing_over`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.runtime.process.handing_over import DONE, PARENT, STREAMS, WORKERS

DAEMON = "airflow_kconnect.runtime.worker_daemon"
"""The module that is the parent of Python workers."""

# What Spark and its scripts set for their own processes; imports do not depend on it.
_OF_SPARK = re.compile(r"_?(PY)?SPARK_.*|PYTHON(_.*|PATH|UNBUFFERED)|PWD|OLDPWD|SHLVL|_")


def start_early(folder: Path, environment: Mapping[str, str]) -> None:
    """Start the parent, in the driver. If that fails, Spark starts one later and reports what is wrong.

    :param folder: for the socket; must keep other users out.
    :param environment: that workers get in addition to that of the driver.
    """
    path = str(folder / f"parent-{os.getpid()}.sock")
    own = {**os.environ, **environment}
    os.environ[PARENT] = path
    with contextlib.suppress(OSError):
        # Its input ends with this process, and with that the parent ends.
        command = [own["PYSPARK_PYTHON"], "-m", DAEMON, WORKERS, path]
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=own)


class EarlyParent:
    """This process, if it was started early: created before it imports anything large.

    :param path: of the socket at which it waits.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            self._listener.bind(path)
        except OSError as error:
            sys.exit(f"Python workers start later, since {path} cannot be created: {error}")
        self._listener.listen(1)

    def take_over(self) -> socket.socket:
        """Wait for the process that Spark starts, and take its place; the end of the job ends this process.

        :return: to be kept open: the other process lives until it is closed.
        """
        connection = self._connection()
        try:
            _, files, _, _ = socket.recv_fds(connection, 1, len(STREAMS))
            with connection.makefile("rb") as stream:
                theirs = json.loads(stream.read())
        except (OSError, ValueError):
            sys.exit()  # Spark has ended
        if differ(os.environ, theirs["environment"]):
            sys.exit()  # the other process does without this one
        os.environ.clear()
        os.environ.update(theirs["environment"])
        sys.path[:] = [*(entry for entry in sys.path if entry not in theirs["path"]), *theirs["path"]]
        for file, number in zip(files, STREAMS, strict=True):
            os.dup2(file, number)
            os.close(file)
        connection.sendall(DONE)
        return connection

    def _connection(self) -> socket.socket:
        poll = select.poll()
        for file in (0, self._listener.fileno()):
            poll.register(file, select.POLLIN)
        if 0 in dict(poll.poll()):
            sys.exit()
        connection, _ = self._listener.accept()
        self._listener.close()
        self._path.unlink()
        return connection


def differ(ours: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    """Whether two environments differ in a variable that something may have read while it was imported."""
    return any(ours.get(key) != theirs.get(key) for key in {*ours, *theirs} if not _OF_SPARK.fullmatch(key))
