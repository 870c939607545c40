"""Which intervals and dead letters can be moved again, and by which connectors."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.hosting.keys import HOSTED
from airflow_kconnect.hosting.replays import DEAD_LETTERS, interval_problem, kind_by_keys
from airflow_kconnect.plugins.registry import CONNECTORS, registry
from airflow_kconnect.runs.moments import moment_of


def interval_replay(connector: str, text: str, *, again: bool = False) -> Replay:
    """The replay of an interval that a user types.

    :param text: ``begin/end`` in ISO 8601, the end exclusive; in UTC if there is no zone.
    :param again: move it again even if it was moved before; else its key is derived from the interval.
    :raises ValueError: it is not such an interval, or it is empty.
    """
    begin, slash, end = text.partition("/")
    if not slash:
        raise ValueError(f"{text!r} is not an interval; expected BEGIN/END, such as 2026-01-01/2026-01-02T12:00:00Z")
    start_ms, end_ms = _ms(begin), _ms(end)
    if end_ms <= start_ms:
        raise ValueError(f"the interval {text} {'is empty' if end_ms == start_ms else 'ends before it begins'}")
    identity = uuid.uuid4().hex if again else repr((connector, start_ms, end_ms))
    return Replay(start_ms, end_ms, hashlib.sha256(identity.encode()).hexdigest()[:16])


def _ms(text: str) -> int:
    try:
        return int(moment_of(text.strip()).timestamp() * 1000)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a point in time; expected for example 2026-01-31 or 2026-01-31T12:00:00Z"
        ) from None


def check_replay(config: Mapping[str, Any]) -> None:
    """Check that a connector can replay an interval of time.

    :raises ConfigError: it cannot; the text says why.
    """
    name, props = _named(config)
    if _is_hosted(name, props):
        problem = interval_problem(name, kind_by_keys(props), props)
    else:
        problem = registry().connector(name).replay_problem(props)
    if problem:
        raise ConfigError({"connector.class": [f"{name} {problem}"]}, connector=props.get("name"))


def check_dead_letters(config: Mapping[str, Any]) -> None:
    """Check that a sink can replay its dead letters.

    :raises ConfigError: it cannot; the text says why.
    """
    name, props = _named(config)
    if _is_hosted(name, props):
        raise ConfigError({"connector.class": [f"{name} {DEAD_LETTERS}"]}, connector=props.get("name"))


def _named(config: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    return str(config["connector.class"]), {key: str(value) for key, value in config.items()}


def _is_hosted(name: str, props: Mapping[str, str]) -> bool:
    return props.get(HOSTED, "").lower() == "true" or not registry().knows(CONNECTORS, name)
