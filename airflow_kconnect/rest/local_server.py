"""The REST API served alone, by uvicorn, for development."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app

_LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"]


def serve(props: Mapping[str, Any], host: str, port: int, token: str | None, on_start: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    :param props: the worker's keys, as they were written. :param port: 0 takes a free one.
    :param on_start: called with the URL once the port is bound and the topics are read.
    :raises ConfigError: the address cannot be used, or the worker's keys are wrong.
    :raises RetriableError: the broker is unavailable.
    """
    bound = _bound(host, port)
    with bound:
        plane = ControlPlane(props, ControlStores(props))
        try:
            plane.read_to_end()
        except BaseException:
            plane.close()
            raise
        app = create_app(lambda: plane, TokenPolicy(token))
        if token is None:
            # Otherwise a page could reach this server under a name of its own that resolves to this machine.
            app.add_middleware(TrustedHostMiddleware, allowed_hosts=_LOCAL_NAMES)
        on_start(_url(host, bound.getsockname()[1]))
        # httptools would keep headers of any length, before any token is looked at.
        config = uvicorn.Config(app, http="h11", log_level="warning", access_log=False, server_header=False)
        try:
            uvicorn.Server(config).run(sockets=[bound])
        finally:
            plane.close()


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        raise ConfigError({"--port": [f"cannot listen at {host}:{port}: {error.strerror}"]}) from None
    return bound


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
