"""Secrets in configurations that are shown: hidden on the way out, kept on the way back in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.secret_keys import has_secret, is_secret_key
from airflow_kconnect.connect.validation.inspection import CONNECTOR_CLASS, inspect_keys
from airflow_kconnect.connect.variables.secret_forms import secret_forms
from airflow_kconnect.connect.variables.syntax import has_reference
from airflow_kconnect.control.password_keys import password_keys

HIDDEN = "[hidden]"
"""Stands for a secret; a configuration that is submitted with it keeps the value that is registered."""


# Without a password in it an address is no secret, whatever its key is called.
_ADDRESSES = ("url", "urls", "uri")


def shown(config: Mapping[str, str], definition: ConfigDef) -> dict[str, str]:
    """A configuration whose secrets are `[hidden]`. Variables such as `${file:...}` stay as they are.

    :param definition: the keys of the connector; those of type PASSWORD are secrets. Of a Java class they are known as
        far as it was asked before.
    """
    of_java = password_keys(config.get(CONNECTOR_CLASS, ""))
    return {
        key: HIDDEN if (key in of_java and _is_literal(value)) or _is_secret(key, value, definition) else value
        for key, value in config.items()
    }


def shown_as_far_as_known(config: Mapping[str, str]) -> dict[str, str]:
    """`shown` for a configuration that may be wrong, or be that of a class which is not here."""
    try:
        definition = inspect_keys(config).definition
    except ConfigError:
        definition = ConfigDef()
    return shown(config, definition)


def restored(config: Mapping[str, str], registered: Mapping[str, str]) -> dict[str, str]:
    """A submitted configuration in which `[hidden]` is replaced by what is registered under the same key."""
    return {key: registered.get(key, value) if value == HIDDEN else value for key, value in config.items()}


def still_hidden(config: Mapping[str, str]) -> dict[str, list[str]]:
    """Errors, by key, of values that are `[hidden]` although nothing is registered that they could stand for."""
    text = f"is {HIDDEN}, and no value is registered that it could stand for: give the value, or a variable"
    return {key: [f"{key} {text}"] for key, value in config.items() if value == HIDDEN}


def hider(complete: Mapping[str, Any], submitted: Mapping[str, Any]) -> Callable[[str], str]:
    """What replaces, in a text, the secrets by which `[hidden]` was replaced in a submitted configuration."""
    kept = {str(complete[key]) for key, value in submitted.items() if value == HIDDEN} - {HIDDEN, ""}
    forms = sorted({form for value in kept for form in (value, *secret_forms(value))}, key=len, reverse=True)

    def hide(text: str) -> str:
        for form in forms:
            text = text.replace(form, HIDDEN)
        return text

    return hide


def _is_literal(value: str) -> bool:
    return bool(value) and not has_reference(value)


def _is_secret(key: str, value: str, definition: ConfigDef) -> bool:
    if has_secret(value):
        return True
    if not _is_literal(value):
        return False
    known = definition.keys.get(key)
    if known is not None and known.type is Type.PASSWORD:
        return True
    if key.endswith(_ADDRESSES):
        return False
    return (known is None or known.type is Type.STRING) and is_secret_key(key)
