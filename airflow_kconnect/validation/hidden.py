"""Configurations without their secrets: for answers, and for what runs tell about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.password_keys import password_keys, was_asked
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection, inspect_keys
from airflow_kconnect.variables.secret_forms import secret_forms
from airflow_kconnect.variables.secret_keys import has_secret, is_secret_key, passwords_in
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.keys import WorkerConfig

HIDDEN = "[hidden]"
"""Stands for a secret; a configuration that is submitted with it keeps the value that is registered."""


# Without a password in it an address is not a secret, whatever its key is called.
_ADDRESSES = ("url", "urls", "uri")
_STAGE = re.compile(
    r"(?:(?P<converter>(?:key|value|header)\.converter)|(?P<other>(?:transforms|predicates)\.[^.]+))\.(?P<setting>.+)",
    re.DOTALL,
)
_COMMON_SETTINGS = ("type", "predicate", "negate", "plugin.version")


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


def shown_as_known(config: Mapping[str, str]) -> dict[str, str]:
    """A configuration with its secrets `[hidden]`, by what is known here of its class."""
    return dict(_shown(tuple(config.items()), password_keys(config.get(CONNECTOR_CLASS, ""))))


def shown_to_others(config: Mapping[str, str], inspection: Inspection | None) -> dict[str, str]:
    """A configuration to be stored where others read it: of a class that is not known here, or was never asked for its
    keys, all values of keys of its own are `[hidden]`, since any of them may be a secret. So are those of a Java
    connector's converters and transformations that are not Connect's: no one asks for their keys.

    :param inspection: see `inspected`.
    """
    definition = ConfigDef() if inspection is None else inspection.definition
    texts = shown(config, definition)
    if inspection is not None and inspection.plugin is not None:
        return texts
    asked = inspection is not None and was_asked(config.get(CONNECTOR_CLASS, ""))
    known = {*definition.keys, CONNECTOR_CLASS}
    return {
        key: HIDDEN
        if _is_literal(text) and key not in known and (not asked or _of_foreign_stage(key, config))
        else text
        for key, text in texts.items()
    }


def literal_secrets(config: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[str]:
    """What must not be in a text about a configuration either: its secrets, and the passwords in them, in all forms.

    :param texts: the configuration with these hidden.
    """
    for key, value in config.items():
        if value != texts.get(key):
            for secret in (value, *passwords_in(value)):
                yield from secret_forms(secret)


@cache
def _any_worker() -> WorkerConfig:
    """Which keys are secrets does not depend on the worker."""
    return WorkerConfig.defaults()


def inspected(config: Mapping[str, str]) -> Inspection | None:
    """What is known of the keys of a configuration; None if it has too many of them."""
    try:
        return inspect_keys(config, worker=_any_worker())
    except ConfigError:
        return None


@lru_cache(maxsize=4096)
def _shown(config: tuple[tuple[str, str], ...], of_java: frozenset[str]) -> Mapping[str, str]:
    """The definitions of all keys are needed for it: too slow for a list of a thousand connectors.

    :param of_java: what is remembered depends on it.
    """
    inspection = inspected(texts := dict(config))
    return shown(texts, ConfigDef() if inspection is None else inspection.definition)


def _of_foreign_stage(key: str, config: Mapping[str, str]) -> bool:
    """Whether a key is a setting of a converter, a transformation or a predicate that is not one of Connect's."""
    stage = _STAGE.fullmatch(key)
    if stage is None or stage["setting"] in _COMMON_SETTINGS:
        return False
    return not config.get(stage["converter"] or f"{stage['other']}.type", "").startswith("org.apache.kafka.connect.")


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
