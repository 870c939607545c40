"""Validator of `bootstrap.servers`: a list of host:port, checked before a client waits for it for nothing."""

from __future__ import annotations

import re


def bootstrap_servers_problem(name: str, servers: list[str]) -> str | None:
    """What is wrong with the first entry that is not right; None if all are."""
    if not servers:
        return "expected host:port, comma-separated"
    return next((problem for server in servers if (problem := _bad_server(server))), None)


def _bad_server(server: str) -> str | None:
    """What is wrong with one `host:port`."""
    if "://" in server:
        return f"entry '{server}' is a URL; write host:port without `{server.split('://')[0]}://`"
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        return f"entry '{server}' has no port; write host:port, for example {server or 'localhost'}:9092"
    if not host:
        return f"entry '{server}' has no host; write host:port"
    if ":" in host and not re.fullmatch(r"\[[0-9A-Fa-f:.%\w]+\]", host):
        return f"entry '{server}' looks like an IPv6 address without brackets; write [address]:port"
    if not re.fullmatch(r"\[.+\]|[\w.-]+", host):
        return f"entry '{server}' has a host name that is not valid"
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        return f"entry '{server}' has a port that is not a number from 1 to 65535"
    return None
