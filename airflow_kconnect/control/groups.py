"""Whose consumer group, or whose hosting worker, a configuration names: offsets are committed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.hosting.keys import GROUP_ID, hosted_group
from airflow_kconnect.kafka.sink_topics import GROUP_OVERRIDE, GROUP_PREFIX, sink_group
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.variables.syntax import has_reference

EVERYTHING = ""
"""Stands for all connectors, registered or not."""

Permit = Callable[[str], None]
"""Raises an exception unless the caller may change a connector, or `EVERYTHING`."""


def newly_named(
    name: str, config: Mapping[str, Any], registered: Mapping[str, ConnectorState], worker_group: str
) -> list[str]:
    """The connectors whose group a configuration names that another registered one of this name does not name yet.

    :param config: as it was submitted, variables not resolved; of a change only the keys that change.
    :returns: with `EVERYTHING` if a variable could name any group.
    """
    known = registered[name].texts if name in registered else {}
    named = {key: str(config.get(key) or "").strip() for key in (GROUP_OVERRIDE, GROUP_ID)}
    changed = {key: group for key, group in named.items() if group and group != known.get(key)}
    owners = []
    for group in changed.values():
        owners += [EVERYTHING] if has_reference(group) else _owners(group, name, registered, worker_group)
    return list(dict.fromkeys(owners))


def of_offsets(props: Mapping[str, str], registered: Mapping[str, ConnectorState], worker_group: str) -> list[str]:
    """The connectors to which the offsets of a connector belong that has another's group, or any group but its own.

    :param props: of the connector, variables resolved.
    """
    name, group = props["name"], sink_group(props)
    if group == f"{GROUP_PREFIX}{name}":
        return []
    return _owners(group, name, registered, worker_group) or [EVERYTHING]


def _owners(group: str, name: str, registered: Mapping[str, ConnectorState], worker_group: str) -> list[str]:
    by_default = {group.removeprefix(prefix) for prefix in (GROUP_PREFIX, f"{worker_group}-")}
    owners = sorted(by_default - {group, name, EVERYTHING})
    for other, state in registered.items():
        own = {**state.texts, "name": other}
        if other not in (name, *owners) and group in (sink_group(own), hosted_group(own, worker_group)):
            owners.append(other)
    return owners
