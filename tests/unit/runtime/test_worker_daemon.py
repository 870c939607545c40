"""The parent of Python workers: what its workers do when Spark has gone."""

from __future__ import annotations

import socket

from airflow_kconnect.runtime.worker_daemon import _without_complaint


def _cannot_flush(sock: socket.socket, authenticated: bool) -> int:
    raise BrokenPipeError


def test_a_worker_that_cannot_flush_since_spark_has_ended_ends_without_a_traceback() -> None:
    with socket.socket() as connection:
        assert _without_complaint(_cannot_flush)(connection, True) != 0
