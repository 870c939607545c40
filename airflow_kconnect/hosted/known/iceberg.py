"""Apache Iceberg's sink commits to its tables later than to its consumer group: how a run knows that it has.

Its tasks write data files and commit, in one transaction, what they have read and an event in a control topic. Its
coordinator, in one of the tasks, commits the files to the tables now and then; only then does it commit, in a group of
its own, how far it has read the control topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_PACKAGES = ("org.apache.iceberg.connect.", "io.tabular.iceberg.connect.")


# Kafka's default of 45 s would keep a run that follows a killed one waiting.
_SESSION = "iceberg.kafka.session.timeout.ms"
_SESSION_MS = "10000"
# The newer protocol refuses the key: brokers decide.
_SERVERS_SESSION_MS = "45000"
_PROTOCOL = "iceberg.kafka.group.protocol"
# Both are Iceberg's defaults.
_INTERVAL = ("iceberg.control.commit.interval-ms", "300000")
_TIMEOUT = ("iceberg.control.commit.timeout-ms", "30000")
# For joining groups, and for the commit itself.
_MARGIN_S = 60.0


@dataclass(frozen=True)
class Control:
    """What else a sink must have committed.

    :param group: of the coordinator.
    :param topic: what it reads.
    :param remembered_s: how long the group remembers a coordinator that was killed.
    :param patience_s: how long after its records the table may be committed.
    """

    group: str
    topic: str
    remembered_s: float
    patience_s: float


def control(connector_class: str, props: Mapping[str, str]) -> Control | None:
    """The control topic of Iceberg's sink; None for other classes.

    :param props: of the connector, variables resolved.
    """
    if not connector_class.startswith(_PACKAGES):
        return None
    group = props.get("iceberg.connect.group-id") or f"connect-{props['name']}"
    return Control(
        f"{group}-coord",
        props.get("iceberg.control.topic") or "control-iceberg",
        _seconds(_session_ms(props), _SERVERS_SESSION_MS),
        sum(_seconds(props.get(key), default) for key, default in (_INTERVAL, _TIMEOUT)) + _MARGIN_S,
    )


def session_default(connector_class: str, props: Mapping[str, str]) -> dict[str, str]:
    """A key by which a coordinator that was killed is forgotten soon; none if the connector sets it, and for others.

    :param connector_class: full name.
    """
    if not connector_class.startswith(_PACKAGES) or _SESSION in props or _PROTOCOL in props:
        return {}
    return {_SESSION: _SESSION_MS}


def _session_ms(props: Mapping[str, str]) -> str:
    return props.get(_SESSION) or (_SERVERS_SESSION_MS if _PROTOCOL in props else _SESSION_MS)


def _seconds(text: str | None, default: str) -> float:
    """Milliseconds as seconds. Another text is for the class to refuse: the default counts."""
    given = (text or "").strip()
    return int(given if given.isdecimal() else default) / 1000
