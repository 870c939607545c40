"""Secrets in configurations that are shown: hidden on the way out, kept on the way back in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.secret_keys import is_secret_key
from airflow_kconnect.connect.variables.syntax import has_reference

HIDDEN = "[hidden]"
"""Stands for a secret; a configuration that is submitted with it keeps the value that is registered."""

_URL_WITH_SECRET = re.compile(r"(?i)(?:password|pwd|secret|token)\w*=|//[^/?#\s]*:[^/?#\s]*@")


def shown(config: Mapping[str, str], definition: ConfigDef) -> dict[str, str]:
    """A configuration whose secrets are `[hidden]`. Variables such as `${file:...}` stay as they are.

    :param definition: the keys of the connector; those of type PASSWORD are secrets.
    """
    return {key: HIDDEN if _is_secret(key, value, definition) else value for key, value in config.items()}


def restored(config: Mapping[str, str], registered: Mapping[str, str]) -> dict[str, str]:
    """A submitted configuration in which `[hidden]` is replaced by what is registered under the same key."""
    return {key: registered.get(key, value) if value == HIDDEN else value for key, value in config.items()}


def still_hidden(config: Mapping[str, str]) -> dict[str, list[str]]:
    """Errors, by key, of values that are `[hidden]` although nothing is registered that they could stand for."""
    text = f"is {HIDDEN}, and no value is registered that it could stand for: give the value, or a variable"
    return {key: [f"{key} {text}"] for key, value in config.items() if value == HIDDEN}


def _is_secret(key: str, value: str, definition: ConfigDef) -> bool:
    if not value or has_reference(value):
        return False
    known = definition.keys.get(key)
    if known is not None and known.type is Type.PASSWORD:
        return True
    if key.endswith("url"):
        return _URL_WITH_SECRET.search(value) is not None
    return (known is None or known.type is Type.STRING) and is_secret_key(key)
