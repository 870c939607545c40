"""A data interval that is moved again, independently of the live offsets, which stay unchanged."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.hosting.keys import HOSTED
from airflow_kconnect.connect.hosting.replays import DEAD_LETTERS, interval_problem, kind_by_keys
from airflow_kconnect.connect.moments import moment_of
from airflow_kconnect.connect.plugins import CONNECTORS, registry


@dataclass(frozen=True)
class Replay:
    """One replay.

    :param start_ms: start of the interval in ms since the epoch.
    :param end_ms: its end, exclusive.
    :param key: another attempt with the same key resumes where the previous one stopped, and does nothing if it had
        finished; a different key replays the interval again.
    :param written: of a sink: where sources of the same DAG run have written what they replayed, as `RunReport.ranges`.
        In those topics the sink takes these records, whatever their timestamps.
    """

    start_ms: int
    end_ms: int
    key: str
    written: Sequence[Mapping[str, Any]] = ()

    def name(self, connector: str) -> str:
        """The name under which the replay keeps its own offsets and transactional ids."""
        return f"{connector}.replay.{self.key}"

    def exclusive_name(self, connector: str) -> str:
        """The name under which replays of this interval fence each other, whatever their keys: they write to the same
        place.
        """
        interval = hashlib.sha256(repr((self.start_ms, self.end_ms)).encode()).hexdigest()[:16]
        return f"{connector}.replay.{interval}"

    def __str__(self) -> str:
        return f"{_iso(self.start_ms)}/{_iso(self.end_ms)}"

    @property
    def folder(self) -> str:
        """The interval as the name of a folder."""
        return str(self).replace(":", "-").replace("/", "--")


_OF_REPLAY = re.compile(r".+\.replay\.[0-9a-f]{16}", re.DOTALL)


def is_of_replay(name: str) -> bool:
    """Whether a name is one under which replays keep their own offsets."""
    return _OF_REPLAY.fullmatch(name) is not None


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


def _iso(ms: int) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    text = moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")
