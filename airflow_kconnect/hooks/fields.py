"""What an Airflow connection has as settings of a connector: its values, and references to what is secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.variables.providers import AIRFLOW_CONNECTION, printable
from airflow_kconnect.variables.secret_keys import is_secret

if TYPE_CHECKING:
    from airflow.sdk import Connection

Settings = dict[str, str]
"""Name of a setting, below the prefix of the connector's keys -> its value, or a reference to it."""


class Problem(Exception):
    """What is wrong with a connection, after its id."""


def settings_of(
    key: str,
    conn_id: str,
    connection_of: Callable[[str], Connection | None],
    read: Callable[[Connection], Settings],
    *,
    enabled: bool,
) -> Settings:
    """The settings of a connection that a configuration names.

    :param key: of the configuration, which names it. :param connection_of: None if there is none of this id.
    :param read: raises a `Problem`. :param enabled: whether the worker has Airflow's variables.
    :raises ConfigError: the connection does not exist, or cannot be translated.
    """
    if not enabled:
        raise ConfigError({key: ["the worker has turned the variables of Airflow off (`config.providers`)"]})
    named = f"names the Airflow connection `{printable(conn_id)}`, which"
    connection = connection_of(conn_id)
    if connection is None:
        raise ConfigError({key: [f"{named} does not exist"]})
    try:
        return read(connection)
    except Problem as problem:
        raise ConfigError({key: [f"{named} {problem}"]}) from None


class Fields:
    """The fields of a connection, as values or references."""

    def __init__(self, connection: Connection) -> None:
        self._id = str(connection.conn_id)
        extra = {f"extra.{name}": value for name, value in connection.extra_dejson.items()}
        fields = {name: getattr(connection, name) for name in ("host", "port", "schema", "login", "password")} | extra
        self._values = {name: value for name, value in fields.items() if value not in (None, "")}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    @property
    def extras(self) -> dict[str, Any]:
        """Of the extra, without its prefix."""
        prefix = "extra."
        return {name.removeprefix(prefix): value for name, value in self._values.items() if name.startswith(prefix)}

    def text(self, name: str) -> str:
        """A value that is not a secret."""
        return str(self._values.get(name, ""))

    def reference(self, name: str) -> str:
        """What stands for a value."""
        return f"${{{AIRFLOW_CONNECTION}:{self._id}:{name}}}"

    def setting(self, key: str, name: str) -> Settings:
        """A setting by the name of its field; none if the connection does not have it."""
        if name not in self:
            return {}
        text = self._values[name]
        text = str(text).lower() if isinstance(text, bool) else str(text)
        hidden = name == "password" or is_secret(key, text) or "${" in text
        return {key: self.reference(name) if hidden else text}
