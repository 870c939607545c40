"""Sinks of a group that have nothing to read, and whose positions are kept as a run would keep them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from airflow_kconnect.connect.connector.sink import NativeSinkConnector, SinkConnector
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.hosted.known import iceberg
from airflow_kconnect.hosting.keys import hosted_group
from airflow_kconnect.kafka.admin_answers import Bounds, Committed, GroupState, Topic
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.kafka.sink_topics import chosen_topics, sink_group
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.end import lag_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.sink_positions import marked_topic
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

# A run commits its positions whatever there is to read, since brokers forget offsets that were not committed for long,
# by default for a week. So a connector is run if that was some hours ago.
FRESH_MS = 6 * 3600 * 1000

_DEAD_LETTERS = "errors.deadletterqueue.topic.name"


@dataclass(frozen=True)
class Candidate:
    """A sink that may have nothing to do, as far as is known without its positions.

    :param topics: those that it reads. :param without_members: all groups that must have none.
    """

    member: Member
    topics: tuple[str, ...]
    group: str
    without_members: tuple[str, ...]


def candidates(members: Iterable[Member], worker: WorkerConfig, existing: Mapping[str, int]) -> list[Candidate]:
    """The sinks that lack nothing that a run would create, or complain about.

    :param existing: all topics, with their partitions.
    """
    found = (_candidate(member, worker, existing) for member in members if member.config.kind == "sink")
    return [candidate for candidate in found if candidate is not None]


def _candidate(member: Member, worker: WorkerConfig, existing: Mapping[str, int]) -> Candidate | None:
    props, hosted = member.config.props, member.config.hosted
    try:
        topics = tuple(chosen_topics(props, existing, internal_topics_of(worker)))
    except ConfigError:
        return None
    needed = {worker.offset_topic, *filter(None, [props.get(_DEAD_LETTERS, "").strip()])}
    if not topics or not needed.issubset(existing):
        return None
    group = sink_group(props)
    if hosted is None:
        return Candidate(member, topics, group, (group,))
    if iceberg.control(hosted.name, props) is not None:
        return None  # it commits to its tables after its offsets
    return Candidate(member, topics, group, (group, worker.group_id, hosted_group(props, worker.group_id)))


class SinksSeen:
    """What was seen of the topics and the groups of candidates, in this order: an end is never older than an offset.

    Only groups that no consumer has ever joined count: a run makes others again, since their offsets expire together.

    :raises ConnectError: Kafka does not answer.
    """

    def __init__(self, admin: PollingAdmin, sinks: list[Candidate]) -> None:
        self._cluster = admin.cluster()[0] if sinks else ""
        self._topics = admin.described(sorted({topic for sink in sinks for topic in sink.topics}))
        self._states = admin.group_states({group for sink in sinks for group in sink.without_members})
        self._committed = admin.committed_by(
            {sink.group: partitions_of(sink, self._topics) for sink in sinks if self._is_quiet(sink)},
            require_stable=True,
        )
        self._bounds = admin.bounds({tp for sink in sinks for tp in partitions_of(sink, self._topics)})

    def _is_quiet(self, sink: Candidate) -> bool:
        states = [self._states[group] for group in sink.without_members]
        own = self._states[sink.group]
        return (
            isinstance(own, GroupState)
            and own.simple
            and not any(isinstance(state, ConnectError) or state.members for state in states)
        )

    def caught_up(self, sink: Candidate) -> dict[TopicPartition, int] | None:
        """Where a sink is, if that is the end of all its topics; None: it has something to do, or it is not known."""
        committed = self._committed.get(sink.group, {})
        if isinstance(committed, ConnectError) or not set(sink.topics).issubset(self._topics):
            return None
        return at_ends(partitions_of(sink, self._topics), committed, self._bounds, self._topics, self._cluster)

    def are_kept(self, sink: Candidate, offsets: Mapping[TopicPartition, int], records: SinkRecords) -> bool:
        """Whether the offset topic has the offsets, too, as a run has committed them not long ago.

        :raises DataError: a record cannot be read.
        """
        topics = {name: self._topics[name] for name in sink.topics}
        return are_kept(offsets, records, topics, int(time.time() * 1000))


def partitions_of(sink: Candidate, topics: Mapping[str, Topic]) -> list[TopicPartition]:
    """The topic-partitions that a sink reads."""
    return [TopicPartition(name, p) for name in sink.topics if name in topics for p in range(topics[name].partitions)]


def at_ends(
    partitions: Iterable[TopicPartition],
    committed: Mapping[TopicPartition, Committed],
    bounds: Mapping[TopicPartition, Bounds],
    topics: Mapping[str, Topic],
    cluster: str,
) -> dict[TopicPartition, int] | None:
    """The offsets, if a run has committed them for these topics, and they are the ends; None: any of them is not.

    What an open transaction holds back is a lag, which a run reports.
    """
    offsets: dict[TopicPartition, int] = {}
    for topic_partition in partitions:
        at, bound = committed.get(topic_partition), bounds.get(topic_partition)
        if at is None or bound is None or not at.offset == bound.end == bound.log_end:
            return None
        topic_id = topics[topic_partition.topic].id
        if topic_id is None or marked_topic(at.metadata, cluster) != topic_id:
            return None
        offsets[topic_partition] = at.offset
    return offsets


def are_kept(
    offsets: Mapping[TopicPartition, int], records: SinkRecords, topics: Mapping[str, Topic], now_ms: int
) -> bool:
    """Whether the offset topic has these offsets of these topics, written by a run that is not long ago.

    :raises DataError: a record cannot be read.
    """
    kept, written_ms = records.read(), records.written_ms()
    for name, topic in topics.items():
        record = kept.get(name)
        if record is None or record.topic_id != topic.id or record.stored_in is not None:
            return False
        if record.offsets != tuple(offsets[TopicPartition(name, p)] for p in range(topic.partitions)):
            return False
        if now_ms - written_ms[name] > FRESH_MS:
            return False
    return True


def idle_sink_report(sink: Candidate, offsets: Mapping[TopicPartition, int]) -> RunReport | None:
    """The report of a run that has nothing to read; None if a run has to ask its target.

    :raises ConnectError: what a run would raise.
    """
    config, hosted = sink.member.config, sink.member.config.hosted
    guarantee, notes = "at_least_once", {}
    if hosted is not None:
        from airflow_kconnect.runtime.java_connector.outcome import Outcome

        notes = Outcome(over="caught up").notes(hosted.version)
    else:
        run_settings(config, sink.member.worker, sink.member.spec.run_id)
        connector = registry().connector(config.connector_class)(config.props)
        assert isinstance(connector, SinkConnector)
        if not connector.check_is_quick:
            return None
        if isinstance(connector, NativeSinkConnector):
            if connector.offsets_stored_in is not None:
                return None
            guarantee = "exactly_once" if connector.exactly_once else guarantee
        connector.check()
    lag, lag_max = lag_of(offsets, offsets)
    return RunReport(
        connector=config.name,
        kind="sink",
        connector_class=config.connector_class if hosted is None else hosted.name,
        run_id=sink.member.spec.run_id,
        guarantee=guarantee,
        records={"read": 0, "written": 0, "filtered": 0, "dead_lettered": 0},
        topics=list(sink.topics),
        offsets=[{"topic": tp.topic, "partition": tp.partition, "offset": at} for tp, at in offsets.items()],
        notes=notes,
        warnings=[*config.warnings],
        lag=lag,
        lag_max=lag_max,
    )
