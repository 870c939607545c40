"""Whether anything listens where the brokers of a worker should be, as far as that is this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from airflow_kconnect.cli.local.broker import default_data
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local.broker import DEFAULT_PORT
from airflow_kconnect.local.broker_files import DataFolder

_SERVERS = "bootstrap.servers"
_PATIENCE_S = 1.0
_MOST_PORTS = 1 << 16


def check_listening(worker: Mapping[str, Any]) -> None:
    """Whether a broker of this machine runs: what its own loopback address refuses, waiting does not help.

    Other addresses are not tried: a network may recover, and brokers there are started by others.

    :param worker: the worker's keys, as they were written.
    :raises RetriableError: all of its brokers are on a loopback address, and all of them refuse the connection.
    """
    text = str(worker.get(_SERVERS) or "")
    addresses = [_address(each.strip()) for each in text.split(",") if each.strip()]
    if addresses and all(address is not None and _is_refused(*address) for address in addresses):
        port = next(address[1] for address in addresses if address is not None)
        raise RetriableError(f"no Kafka broker answers at {text}: the connection is refused. {_cure(port)}")


def _address(text: str) -> tuple[str, int] | None:
    """Host and port of a loopback address, maybe with a protocol before it; None for any other."""
    host, _, port = text.rpartition("://")[2].rpartition(":")
    host = host.strip("[]")
    is_port = port.isdecimal() and 0 < int(port) < _MOST_PORTS
    return (host, int(port)) if is_port and _is_loopback(host) else None


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_refused(host: str, port: int) -> bool:
    """Whether each address of the host refuses; any other failure is for Kafka's client to judge."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(_refuses(family, address) for family, _, _, _, address in found)


def _refuses(family: int, address: Any) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.settimeout(_PATIENCE_S)
        # A machine without IPv6 has no such address, although its name resolves to one.
        return tried.connect_ex(address) in (errno.ECONNREFUSED, errno.EADDRNOTAVAIL, errno.ENETUNREACH)


def _cure(port: int) -> str:
    command = "kconnect broker start" if port == DEFAULT_PORT else f"kconnect broker start --port {port}"
    ports = DataFolder(default_data()).ports()
    if ports is not None and ports.broker == port:
        return f"Start it with `{command}`"
    return f"Start the broker there, or one of this package with `{command}`"
