"""What stores of every kind may answer, in the same words.

Each function takes what was attempted, with the address.
"""

from __future__ import annotations

from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError

_CA_FILE = "store.ca.file"


def replaced(doing: str) -> DataError:
    """A file is not there as it was seen."""
    return DataError(f"{doing}: it was replaced or removed after it was found: run again")


def overloaded(doing: str, code: str | int) -> RetriableError:
    """:param code: what the store said."""
    return RetriableError(f"{doing}: the store is unavailable or overloaded ({code}); run again later")


def untrusted(doing: str) -> ConfigError:
    """No one who may sign certificates has signed the store's."""
    text = f"{doing}: the store's certificate is not trusted: name the file of the CA that has signed it"
    return ConfigError({_CA_FILE: [text]})


def refused(doing: str, why: str, key: str | None) -> ConnectError:
    """:param key: of the configuration, which is wrong if the store refuses."""
    text = f"{doing}: {why}"
    return ConfigError({key: [text]}) if key else DataError(text)


def check_ca_file(path: str) -> None:
    """:raises ConfigError: it is not a file on this machine."""
    if not Path(path).is_file():
        raise ConfigError({_CA_FILE: [f"{path} is not a file on this machine: put it there"]})
