"""Ports on the loopback address: a free one, and which program holds one in use."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from pathlib import Path

import psutil

LOOPBACK = "127.0.0.1"
_FROM = 15_000
_GIVEN_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")
_GIVEN_OUT_FROM = 32_768  # where Linux does not say it


def free_port() -> int:
    """A port that is currently free, and that the system does not give to a program that asks for any: a client could
    get one of those before the server for which it is chosen has started.
    """
    candidates = range(_FROM, _given_out_from())
    for _ in range(min(100, len(candidates))):
        port = secrets.choice(candidates)
        if not is_taken(port):
            return port
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _given_out_from() -> int:
    with suppress(OSError, ValueError):
        return int(_GIVEN_OUT.read_text().split()[0])
    return _GIVEN_OUT_FROM


def is_taken(port: int) -> bool:
    """Whether a server could not bind the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False


def is_open(port: int) -> bool:
    """Whether a server accepts connections on the port."""
    with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
        return True
    return False


def holder(port: int) -> str:
    """What is listening on a port, for a message: `process 123 (java)`, or `another program` if that cannot be
    determined.
    """
    with suppress(psutil.Error, OSError):
        for connection in psutil.net_connections(kind="tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            if listens and connection.pid:
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return "another program"
