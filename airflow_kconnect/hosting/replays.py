"""Which hosted connectors can move an interval, or dead letters, again, and why others cannot. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Mapping

_SET_BACK = (
    "Set its offsets back instead (`kconnect offsets alter`): the next run then moves everything since then again"
)
_OF_SOURCES = (
    "is a hosted Java source: an interval of time cannot be moved again through it, since only its class knows what its"
    f" offsets mean. {_SET_BACK}"
)
DEAD_LETTERS = (
    "is a hosted Java connector: dead letters cannot be moved again through it. They are in a topic of their own, and"
    " the Java class would take that for the topic of the records. Let a connector of another name read the dead-letter"
    " topic, with a transformation that sets the topic (RegexRouter)"
)
"""After the name of a class: why a replay of dead letters is refused."""

# Sinks that take their positions from somewhere else than their consumer group.
_OWN_OFFSETS = (
    ("org.apache.iceberg.connect.", "commits its offsets in a group of its own, with the data"),
    ("io.tabular.iceberg.connect.", "commits its offsets in a group of its own, with the data"),
    ("com.snowflake.kafka.connector.", "keeps offsets in its tables' channels, and skips records before them"),
    ("io.confluent.connect.hdfs", "keeps offsets in the names of its files, and skips records before them"),
)
_CLICKHOUSE = "com.clickhouse.kafka.connect."


def interval_problem(name: str, kind: str, props: Mapping[str, str]) -> str | None:
    """Why an interval cannot be replayed through a hosted class, as text after its name; None: nothing speaks against.

    :param name: of the class. :param kind: `source` or `sink`. :param props: of the connector.
    """
    if kind == "source":
        return _OF_SOURCES
    why = _own_offsets(name, props)
    if why is None:
        return None
    return f"{why}: records of an interval cannot be moved again through it. {_SET_BACK}, as far as the class allows it"


def keeps_own_offsets(name: str, props: Mapping[str, str]) -> bool:
    """Whether a sink's class takes its positions from somewhere else than its consumer group; parameters as above."""
    return _own_offsets(name, props) is not None


def _own_offsets(name: str, props: Mapping[str, str]) -> str | None:
    if name.startswith(_CLICKHOUSE) and props.get("exactlyOnce", "").strip().lower() == "true":
        return "keeps offsets in its database (`exactlyOnce`), and skips records before them"
    return next((text for prefix, text in _OWN_OFFSETS if name.startswith(prefix)), None)


def kind_by_keys(props: Mapping[str, object]) -> str:
    """`source` or `sink`, by what every sink and no source has."""
    return "sink" if {"topics", "topics.regex"} & props.keys() else "source"
