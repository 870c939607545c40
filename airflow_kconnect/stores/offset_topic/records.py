"""The bytes of the offset topic: Connect's offset records, and our plan and progress records next to them.

Keys of our own records are lists of three or four strings, which Connect (it expects exactly two members, the second
one a map) skips with a warning. Plans and markers exist only while a run is unfinished; a sink's record for a topic
stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.connector.source import ResumePoint, Split
from airflow_kconnect.java_text.json import canonical_json

_OURS = "kconnect"


def offset_key(connector: str, source_partition: Mapping[str, Any]) -> bytes:
    """``["<connector>",{<source partition>}]``, as `org.apache.kafka.connect.storage.OffsetStorageWriter` writes it."""
    return canonical_json([connector, dict(source_partition)]).encode()


def offset_value(offset: Mapping[str, Any]) -> bytes:
    """``{<source offset>}``."""
    return canonical_json(dict(offset)).encode()


def claim_key(connector: str) -> bytes:
    """Key of the record that says which run owns a connector."""
    return canonical_json([_OURS, "claim", connector]).encode()


def plan_key(connector: str) -> bytes:
    """Key of a connector's plan record."""
    return canonical_json([_OURS, "plan", connector]).encode()


def marker_key(connector: str, split: int) -> bytes:
    """Key of the progress marker of split `split`."""
    return canonical_json([_OURS, "split", connector, str(split)]).encode()


SHAPES = "shapes"
"""In place of a source partition's identity, which is a JSON object: the facts are about the shapes of records."""


def facts_key(connector: str, identity: str) -> bytes:
    """Key of the facts that a connector stores next to the offset of a source partition, e.g. a file's fingerprint.

    They have a record of their own so that the offset keeps exactly the bytes that Connect would write.
    """
    return canonical_json([_OURS, "facts", connector, identity]).encode()


def sink_key(group: str, topic: str) -> bytes:
    """Key of a sink's offsets in a topic, a copy of those of its consumer group."""
    return canonical_json([_OURS, "sink", group, topic]).encode()


def sink_plan_key(group: str) -> bytes:
    """Key of the record of a sink's plans: see `stores.sink_plans`."""
    return canonical_json([_OURS, "sink", group]).encode()


def sink_plan_group(key: bytes) -> str | None:
    """Group of a `sink_plan_key`; None for other keys."""
    try:
        match json.loads(key):
            case [str(ours), "sink", str(group)] if ours == _OURS:
                return group
    except (ValueError, RecursionError):
        return None
    return None


def sink_of(key: bytes) -> tuple[str, str] | None:
    """Group and topic of a `sink_key`; None for other keys."""
    try:
        match json.loads(key):
            case [str(ours), "sink", str(group), str(topic)] if ours == _OURS:
                return group, topic
    except (ValueError, RecursionError):
        return None
    return None


@dataclass(frozen=True)
class TopicRead:
    """The offsets of a sink in a topic.

    :param topic_id: of the topic that the offsets belong to; None with brokers that have no topic ids.
    :param offsets: the next offset for each partition of the topic; None where the sink has none.
    :param stored_in: the table, or another place, in which the target has these offsets too; None: it has none.
    """

    topic_id: str | None
    offsets: tuple[int | None, ...]
    stored_in: str | None = None

    def encode(self) -> bytes:
        """The record's value."""
        fields = asdict(self)
        if self.stored_in is None:
            del fields["stored_in"]
        return canonical_json({"version": 1, **fields}).encode()

    @classmethod
    def decode(cls, value: bytes) -> TopicRead:
        """:raises ValueError, TypeError, KeyError: the bytes are not such a record."""
        fields = json.loads(value)
        if not isinstance(fields, dict) or fields.pop("version") != 1:
            raise ValueError("not what a sink has read, in version 1")
        read = cls(**fields)
        if not all(offset is None or isinstance(offset, int) for offset in read.offsets):
            raise ValueError("an offset is not a whole number")
        return replace(read, offsets=tuple(read.offsets))


@dataclass(frozen=True)
class Claim:
    """Which run owns a connector: written before the tasks' ids are fenced, and checked by each task that starts.

    :param claim_id: of one takeover; two attempts of a run may share a run id.
    :param run_id: for messages.
    """

    claim_id: str
    run_id: str

    def encode(self) -> bytes:
        """The record's value."""
        return canonical_json(asdict(self)).encode()

    @classmethod
    def decode(cls, value: bytes) -> Claim:
        """:raises ValueError, TypeError: the bytes are not a claim."""
        return cls(**json.loads(value))


@dataclass(frozen=True)
class PlanRecord:
    """The write-ahead record of a run: what it reads.

    :param plan_id: created with the plan.
    :param run_id: the run that created it, for messages.
    :param tasks: how many transactional ids (0 … tasks-1) may be in use.
    :param splits: the splits; empty for a poll source, whose tasks commit source offsets themselves.
    """

    plan_id: str
    run_id: str
    tasks: int
    splits: tuple[Split, ...] = ()

    def encode(self) -> bytes:
        """The record's value."""
        return canonical_json({"version": 1, **asdict(self)}).encode()

    @classmethod
    def decode(cls, value: bytes) -> PlanRecord:
        """:raises ValueError, TypeError, KeyError: the bytes are not a plan record."""
        fields = json.loads(value)
        if not isinstance(fields, dict) or fields.pop("version") != 1:
            raise ValueError("not a plan record of version 1")
        fields["splits"] = tuple(Split(**split) for split in fields["splits"])
        return cls(**fields)


@dataclass(frozen=True)
class Marker:
    """How far a split of a plan is: written in the same transaction as its records.

    :param progress: resume point after the last committed row; None if no row was committed.
    :param records: rows committed so far.
    :param topics: the target topics: a run that resumes the plan reports them.
    :param ranges: of a replay: where the committed records are, see `runtime.written_ranges`.
    :param bad: rows among those before `progress` that were dead letters or skipped.
    """

    plan_id: str
    progress: ResumePoint | None
    done: bool
    records: int
    topics: tuple[str, ...] = ()
    ranges: Mapping[str, Sequence[int]] = field(default_factory=dict)
    bad: int = 0

    def encode(self) -> bytes:
        """The record's value."""
        members = {name: value for name, value in asdict(self).items() if name not in ("ranges", "bad") or value}
        return canonical_json(members).encode()

    @classmethod
    def decode(cls, value: bytes) -> Marker:
        """:raises ValueError, TypeError: the bytes are not a marker."""
        marker = cls(**json.loads(value))
        return replace(marker, topics=tuple(marker.topics))
