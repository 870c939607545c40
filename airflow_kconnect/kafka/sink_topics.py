"""Which topics a sink reads, and with which consumer group. Pure rules, no I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Mapping

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.patterns import matches
from airflow_kconnect.java_text.regex import java_pattern

GROUP_OVERRIDE = "consumer.override.group.id"
"""Names a sink's consumer group in place of `connect-<name>`."""
GROUP_PREFIX = "connect-"


def chosen_topics(props: Mapping[str, str], existing: Iterable[str], internal: Container[str]) -> list[str]:
    """The topics of ``topics`` or ``topics.regex``, sorted.

    :param internal: the worker's own topics, which patterns never match.
    :raises ConfigError: a named topic does not exist. A pattern that matches nothing (yet) is not an error.
    """
    names = set(existing)
    if pattern := props.get("topics.regex"):
        regex = java_pattern(pattern)
        return sorted(name for name in names if name not in internal and matches(regex, name) and name[:2] != "__")
    topics = named_topics(props)
    missing = [name for name in topics if name not in names]
    if missing:
        raise ConfigError({"topics": [f"topic {name} does not exist" for name in missing]})
    return sorted(topics)


def named_topics(props: Mapping[str, str]) -> list[str]:
    """The entries of ``topics``."""
    return [name.strip() for name in props.get("topics", "").split(",") if name.strip()]


def sink_group(props: Mapping[str, str]) -> str:
    """The consumer group that holds the sink's offsets."""
    return props.get(GROUP_OVERRIDE) or f"{GROUP_PREFIX}{props['name']}"


def offset_reset(props: Mapping[str, str], worker: Mapping[str, str]) -> str | None:
    """``auto.offset.reset`` of the sink's consumer, if the connector sets it, or the worker for all sinks."""
    return props.get("consumer.override.auto.offset.reset") or worker.get("consumer.auto.offset.reset")


def dead_letter_group(own: str) -> str:
    """The group for replays of dead letters; it has the prefix of the connector's own group, for ACLs on prefixes.

    Without the digits it would be that of a sink called ``<name>-dead-letters``, which may well read that topic.
    """
    return f"{own}-dead-letters-{hashlib.sha256(own.encode()).hexdigest()[:8]}"
