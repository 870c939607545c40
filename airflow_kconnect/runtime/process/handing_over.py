"""What Spark has started as the parent of its Python workers hands over to a parent that the job has started before.

It gives away its environment and its streams, and lives until the other ends, since Spark watches it. It imports
little: Spark waits meanwhile.
"""

from __future__ import annotations

import json
import os
import socket
import sys

PARENT = "KCONNECT_WORKER_PARENT"
"""An environment variable with the path of the socket at which the other waits."""

WORKERS = "pyspark.worker"
"""The workers that the other is for; Python data sources of Spark have others."""

STREAMS = (0, 1, 2)
DONE = b"\n"


def handed_over() -> bool:
    """Hand over and return after the end of the other; False at once if there is none, or if it declines."""
    path = os.environ.pop(PARENT, None)
    if path is None or sys.argv[1:] != [WORKERS]:
        return False
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            socket.send_fds(connection, [b"\n"], STREAMS)
            connection.sendall(json.dumps({"environment": dict(os.environ), "path": sys.path}).encode())
            connection.shutdown(socket.SHUT_WR)
            accepted = connection.recv(1) == DONE
        except OSError:
            return False
        if accepted:
            connection.recv(1)
        return accepted
