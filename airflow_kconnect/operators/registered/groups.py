"""Registered connectors that name a group: which DAG they share, and what they have to agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from airflow_kconnect.operators.registered.entries import Entry
from airflow_kconnect.operators.registered.settings import values_of
from airflow_kconnect.validation.dag_keys import (
    GROUP_NAME,
    OWNER,
    POOL,
    POOL_SLOTS,
    RETRIES,
    RETRY_DELAY_MS,
    SCHEDULE,
    TAGS,
    group_of,
)

_AGREED = (SCHEDULE, RETRIES, RETRY_DELAY_MS, POOL, POOL_SLOTS, OWNER)
_MOST_NAMED = 3


@dataclass(frozen=True)
class GroupEntry:
    """A group that becomes a DAG.

    :param members: its connectors, by name.
    """

    name: str
    members: Sequence[Entry] = field(default_factory=tuple)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The values of the keys about the DAG: where members differ, that of most of them."""
        agreed = {key: _common(found.values()) for key, found in self._by_key.items() if key in _AGREED}
        tags = {tag for found in self._by_key.get(TAGS, {}).values() for tag in found}
        return {**agreed, TAGS: sorted(tags)}

    @cached_property
    def problems(self) -> dict[str, list[str]]:
        """What is wrong: keys on which the members differ, and their own problems."""
        differing = {
            key: [f"{_listed(found)}: the connectors of a group share one DAG; {_common(found.values())!r} is used"]
            for key, found in self._by_key.items()
            if key in _AGREED and len(set(found.values())) > 1
        }
        own = {f"{member.name}: {key}": texts for member in self.members for key, texts in member.problems.items()}
        return {**differing, **own}

    @cached_property
    def _by_key(self) -> dict[str, dict[str, Any]]:
        """The values that members set, by key and connector."""
        found: dict[str, dict[str, Any]] = {}
        for member in self.members:
            for key, value in values_of(member.config).items():
                found.setdefault(key, {})[member.name] = value
        return found


def grouped(entries: Iterable[Entry]) -> tuple[list[Entry], list[GroupEntry]]:
    """The connectors with a DAG of their own, and the groups of the others."""
    alone: list[Entry] = []
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        name = None if GROUP_NAME in entry.problems else group_of(entry.config)
        if name is None:
            alone.append(entry)
        else:
            groups.setdefault(name, []).append(entry)
    return alone, [GroupEntry(name, tuple(members)) for name, members in sorted(groups.items())]


def _common(values: Iterable[Any]) -> Any:
    """The value that is there most often; the first of several."""
    return Counter(values).most_common(1)[0][0]


def _listed(values: Mapping[str, Any]) -> str:
    """Which connectors want which value."""
    by_value: dict[Any, list[str]] = {}
    for name, value in values.items():
        by_value.setdefault(value, []).append(name)
    return ", ".join(f"{value!r} in {_names(names)}" for value, names in by_value.items())


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
