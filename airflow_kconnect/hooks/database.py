"""JDBC URLs for Airflow's database connections: types `postgres`, `mysql`, `sqlite` and `jdbc`.

A connection's extra is what Airflow's own hooks pass to a Python driver. Settings that a JDBC driver names differently
are translated; a setting that would be lost is an error if it concerns encryption, else a warning. User and password
never become part of a URL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from airflow_kconnect.variables.providers import ProviderProblem

if TYPE_CHECKING:
    from airflow.sdk import Connection

Translation = Callable[[Any], str]

log = logging.getLogger(__name__)

_MYSQL_CHARSETS = {"utf8": "UTF-8", "utf8mb3": "UTF-8", "utf8mb4": "UTF-8", "latin1": "Cp1252", "ascii": "US-ASCII"}


def _charset(value: Any) -> str:
    try:
        return _MYSQL_CHARSETS[str(value).lower()]
    except KeyError:
        known = ", ".join(sorted(_MYSQL_CHARSETS))
        raise ProviderProblem(f"has the extra charset={value}, which has no Java name here (known: {known})") from None


def _milliseconds(seconds: Any) -> str:
    return str(round(float(seconds) * 1000))


def _on_or_off(value: Any) -> str:
    return "true" if str(value).lower() in ("1", "true", "on") else "false"


@dataclass(frozen=True)
class _Server:
    """How the URLs of a kind of database server are built.

    :param parameters: extra -> parameter of the JDBC driver, and how its value is written there.
    :param encryption: prefixes of extras that must not be lost.
    """

    subprotocol: str
    port: int
    parameters: Mapping[str, tuple[str, Translation]] = field(default_factory=dict)
    encryption: tuple[str, ...] = ("ssl",)


_SERVERS = {
    "postgres": _Server(
        "postgresql",
        5432,
        {
            "sslmode": ("sslmode", str),
            "sslrootcert": ("sslrootcert", str),
            "sslcert": ("sslcert", str),
            "sslkey": ("sslkey", str),
            "gssencmode": ("gssEncMode", str),
            "application_name": ("ApplicationName", str),
            "connect_timeout": ("connectTimeout", str),
            "options": ("options", str),
            "keepalives": ("tcpKeepAlive", _on_or_off),
        },
        ("ssl", "gss"),
    ),
    "mysql": _Server(
        "mysql",
        3306,
        {
            "charset": ("characterEncoding", _charset),
            "ssl_mode": ("sslMode", lambda value: str(value).upper()),
            "connect_timeout": ("connectTimeout", _milliseconds),
            "read_timeout": ("socketTimeout", _milliseconds),
        },
    ),
}
TYPES = (*_SERVERS, "sqlite", "jdbc")


def jdbc_url(connection: Connection) -> str:
    """The JDBC URL of a connection, without user and password.

    :raises ProviderProblem: its type is not one of `TYPES`, or it lacks what a URL needs. The text names its type and
        no other values.
    """
    match connection.conn_type:
        case "sqlite":
            return f"jdbc:sqlite:{_host(connection, 'the path of the database file')}"
        case "jdbc":
            return _of_jdbc(connection)
        case "generic" if str(connection.host or "").startswith("jdbc:"):
            return _of_jdbc(connection)
        case kind if kind in _SERVERS:
            return _of_server(connection, _SERVERS[str(kind)])
    cure = "For another database use type `jdbc`, with the JDBC URL as host"
    if connection.conn_type == "generic":
        cure = (
            "`airflow connections add --conn-type` stores `generic` where the type's provider is not installed; "
            "`--conn-uri` and `--conn-json` keep the type"
        )
    raise ProviderProblem(f"is of type `{connection.conn_type}`, expected one of: {', '.join(TYPES)}. {cure}")


def _of_jdbc(connection: Connection) -> str:
    url = _host(connection, "the JDBC URL").strip()
    if not url.startswith("jdbc:"):
        raise ProviderProblem("is of type `jdbc`; its host must be a JDBC URL such as jdbc:postgresql://db:5432/shop")
    return url


def _of_server(connection: Connection, server: _Server) -> str:
    port = connection.port or server.port
    hosts = [host.strip() for host in _host(connection, "the host of the database").split(",")]
    authority = ",".join(_with_port(host, port) for host in hosts)
    if not connection.schema:
        raise ProviderProblem(
            f"is of type `{connection.conn_type}` and has no schema: set it to the name of the database"
        )
    parameters = _parameters(connection, server)
    query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
    return f"jdbc:{server.subprotocol}://{authority}/{quote(connection.schema, safe='')}{query}"


def _with_port(host: str, port: int) -> str:
    address = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{address}:{port}"


def _host(connection: Connection, what: str) -> str:
    if not connection.host:
        raise ProviderProblem(f"is of type `{connection.conn_type}` and has no host: set it to {what}")
    return str(connection.host)


def _parameters(connection: Connection, server: _Server) -> dict[str, str]:
    parameters, lost = {}, []
    for name, value in connection.extra_dejson.items():
        if name in server.parameters and not isinstance(value, dict | list):
            key, translate = server.parameters[name]
            parameters[key] = translate(value)
        elif name.startswith(server.encryption):
            raise ProviderProblem(
                f"has the extra `{name}`, which the JDBC driver cannot be given as it is; write the URL yourself, with "
                "the driver's own parameters, in a connection of type `jdbc`"
            )
        else:
            lost.append(name)
    if lost:
        log.warning("Extras of connection %s without effect on its JDBC URL: %s", connection.conn_id, ", ".join(lost))
    return parameters
