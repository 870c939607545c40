"""Makes what is registered equal to a set of connector files: what would change, then the changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, texts_of
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control import configurations, secrets
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.submit.folder import ConnectorFile, in_file
from airflow_kconnect.validation.inspection import inspect_keys


class Action(StrEnum):
    """What happens to a connector."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


@dataclass(frozen=True)
class Change:
    """A connector and what happens to it. Its repr shows no configuration.

    :param keys: key -> value before and after, secrets hidden; None: not set. Of a changed connector only.
    :param config: to be registered.
    """

    name: str
    action: Action
    keys: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    config: dict[str, str] = field(default_factory=dict, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data, without secrets."""
        keys = {key: {"before": before, "after": after} for key, (before, after) in self.keys.items()}
        return {"connector": self.name, "action": self.action.value, "keys": keys}


def changes(plane: ControlPlane, files: Mapping[str, ConnectorFile], *, prune: bool) -> list[Change]:
    """What has to change, by name; nothing is written.

    :param files: by connector name. A value `[hidden]` stands for the one that is registered.
    :param prune: whether connectors without a file are deleted.
    :raises ConfigError: configurations are not valid: all errors, by file.
    """
    registered = {name: plane.registered_config(name) for name in plane.names()}
    found: dict[str, Change] = {}
    errors: dict[str, list[str]] = {}
    for name, connector in files.items():
        known = registered.get(name)
        try:
            config = secrets.restored(configurations.named(_texts(connector.config), name), known or {})
            configurations.checked(config, plane.worker_props)
        except ConfigError as error:
            errors[str(connector.file)] = in_file(connector.file, error)
        else:
            found[name] = _change(name, known, config)
    if errors:
        raise ConfigError(errors)
    if prune:
        found |= {name: Change(name, Action.DELETED) for name in registered if name not in files}
    return [change for _, change in sorted(found.items())]


def apply(plane: ControlPlane, planned: Iterable[Change], done: Callable[[Change], None]) -> None:
    """Make the changes, one after the other. If one fails, applying the same files again makes the others.

    :param done: called after each change.
    :raises ConfigError, RetriableError, FencedError: a change could not be made.
    """
    for change in planned:
        if change.action is Action.DELETED:
            with suppress(NotFoundError):  # another request was faster
                plane.delete(change.name)
        elif change.action is not Action.UNCHANGED:
            plane.put_config(change.name, change.config)
        done(change)


def _texts(config: Mapping[str, Any]) -> dict[str, str]:
    """:raises ConfigError: values that are not text."""
    texts, errors = texts_of(config)
    if errors:
        raise ConfigError(errors)
    return texts


def _change(name: str, known: Mapping[str, str] | None, config: dict[str, str]) -> Change:
    if known is None:
        return Change(name, Action.CREATED, config=config)
    different = [key for key in sorted({*known, *config}) if known.get(key) != config.get(key)]
    if not different:
        return Change(name, Action.UNCHANGED)
    before, after = _shown(known), _shown(config)
    return Change(name, Action.CHANGED, {key: (before.get(key), after.get(key)) for key in different}, config)


def _shown(config: Mapping[str, str]) -> dict[str, str]:
    try:
        definition = inspect_keys(config).definition
    except ConfigError:
        definition = ConfigDef()
    return secrets.shown(config, definition)
