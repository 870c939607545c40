"""What a DAG file has to know about a connector: its configuration without secrets, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.secrets import HIDDEN, shown
from airflow_kconnect.validation.before_variables import inspect_without_references


@dataclass(frozen=True)
class Entry:
    """A connector that becomes a DAG.

    :param kind: `source` or `sink`; None if that cannot be known: the DAG's runs then fail with `problems`.
    :param config: secrets hidden.
    :param problems: what is wrong, by key; nothing that is hidden is quoted.
    :param file: the file that it is in; None if it is registered in the config topic.
    :param version: an entry of the same version need not be made again; empty: it must.
    """

    name: str
    kind: str | None = None
    config: dict[str, str] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)
    file: str | None = None
    version: str = ""


def entry_of(name: str, config: Mapping[str, Any], worker: Mapping[str, Any], file: str | None = None) -> Entry:
    """A connector by its configuration, which may be wrong.

    :param config: variables not resolved. :param worker: the worker's keys, variables not resolved.
    :raises ConfigError: keys of the worker are wrong.
    """
    inspection = inspect_without_references(config, worker)
    texts = inspection.props
    visible = shown(texts, inspection.definition)
    hidden = [texts[key] for key, text in visible.items() if text == HIDDEN and texts[key]]
    problems = {key: [_without(hidden, text) for text in messages] for key, messages in inspection.errors.items()}
    return Entry(name, inspection.kind, visible, problems, file)


def broken_entry(name: str, error: ConfigError | str, file: str | None = None) -> Entry:
    """A connector whose configuration cannot be read."""
    problems = error.errors if isinstance(error, ConfigError) else {"connector": [error]}
    return Entry(name, problems=problems, file=file)


def _without(hidden: list[str], text: str) -> str:
    for secret in hidden:
        text = text.replace(secret, HIDDEN)
    return text
