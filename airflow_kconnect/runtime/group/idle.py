"""Which connectors of a group have nothing new: one look at Kafka for all of them, before their runs begin.

A connector that certainly has nothing to do gets the report that a run of it would have made. Of everything unusual the
run decides, which explains it: see docs/decisions/0056.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.hosting.inspection import class_version
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, OpenTransactionError
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runs.warnings import FAIL_ON_WARNING, failing
from airflow_kconnect.runtime.group.idle_sinks import Candidate, SinksSeen, candidates, idle_sink_report
from airflow_kconnect.runtime.group.idle_sources import by_offset_topic, idle_source_report
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.stores.offset_topic.many_views import ManyViews, ReadBefore
from airflow_kconnect.stores.sink_positions import Offsets
from airflow_kconnect.stores.status_topic.ended_runs import EndedRun, tell_ended
from airflow_kconnect.stores.status_topic.run_facts import facts_of
from airflow_kconnect.stores.status_topic.run_history import entry_of, now_ms
from airflow_kconnect.stores.status_topic.store import StatusStore

log = logging.getLogger("kconnect.group")

# Of one that never answers, each run says so by itself.
_TIMEOUT_S = 10.0
_PATIENCE_S = 5.0
_CLUSTERS_AT_ONCE = 8
# What they override says nothing about how Kafka is reached.
_OF_RUNS = ("consumer.override.group.id", "consumer.override.auto.offset.reset")


class IdleMembers:
    """Which connectors of a group have nothing new, for its run.

    :param member_of: checks a connector as its run does.
    """

    def __init__(self, member_of: Callable[[RunSpec], Member]) -> None:
        self._member_of = member_of
        self._members: list[Member] = []
        self._found = Found()

    def reports(self, runs: Iterable[RunSpec]) -> Mapping[str, RunReport]:
        """The reports of those that have nothing to do, by their names, see `looked_at`.

        All are checked, replays too: how Spark starts, and whether pyarrow may know pandas, depends on whether there
        are classes of others (`only_own_loaded`), whichever connector needs it first.
        """
        for spec in runs:
            with suppress(ConnectError):  # its run says what is wrong
                member = self._member_of(spec)
                if spec.live:
                    self._members.append(member)
        self._found = looked_at(self._members)
        return self._found.reports

    def tell(self, names: Collection[str]) -> None:
        """Have these be told as runs that ended well: the others may get something new, and are run."""
        tell_idle(self._members, {name: self._found.reports[name] for name in names})
        for name in names:
            self._found.read_before.pop(name, None)

    def taken(self, name: str) -> ReadBefore | None:
        """What was read of the offset topic for a source, once: it is kept until its run ends."""
        return self._found.read_before.pop(name, None)


@dataclass
class Found:
    """What a look has found.

    :ivar reports: of those that have nothing to do, by their names; all others are to be run.
    :ivar read_before: what was read for sources, by their names.
    """

    reports: dict[str, RunReport] = field(default_factory=dict)
    read_before: dict[str, ReadBefore] = field(default_factory=dict)


def looked_at(members: Sequence[Member]) -> Found:
    """Which members have nothing to do.

    There is one admin client, and at most one consumer at a time, for all members that reach Kafka in the same way.
    Nothing is fenced, committed or created. Raises nothing: what cannot be looked at is to be run.

    :param members: their names are unique.
    """
    alike = _alike(member for member in members if member.spec.live)
    found = Found()
    with ThreadPoolExecutor(_CLUSTERS_AT_ONCE, thread_name_prefix="idle") as threads:
        for some in threads.map(_looked, alike):
            found.reports |= some.reports
            found.read_before |= some.read_before
    return found


def tell_idle(members: Sequence[Member], reports: Mapping[str, RunReport]) -> None:
    """Write the statuses of those that have a report, and the entries of their runs, as of runs that ended well.

    What goes wrong is a warning in the log.
    """
    for alike in _alike(member for member in members if member.name in reports):
        tell_ended(alike[0].worker, [_ended(member, reports[member.name]) for member in alike])


def _ended(member: Member, report: RunReport) -> EndedRun:
    spec, config = member.spec, member.config
    entry = entry_of(spec)
    entry = replace(entry, start_ms=entry.start_ms - int(report.durations_s["total"] * 1000))
    facts = facts_of(spec.config, config.kind, config.props)
    run = facts.cleaned(entry.with_report(report).ended(now_ms()), member.hide)
    version = class_version({key: str(text) for key, text in spec.config.items()}, member.worker)
    return EndedRun(member.name, run, facts.connector, tuple(report.topics), version)


def _alike(members: Iterable[Member]) -> list[list[Member]]:
    """Together those that reach Kafka in the same way."""
    alike: dict[str, list[Member]] = {}
    for member in members:
        alike.setdefault(_way(member), []).append(member)
    return list(alike.values())


def _way(member: Member) -> str:
    """Equal for members whose clients have the same configurations."""
    props = member.config.props
    overrides = {key: text for key, text in props.items() if ".override." in key and key not in _OF_RUNS}
    return json.dumps([dict(member.worker.props), overrides], sort_keys=True)


def _looked(members: list[Member]) -> Found:
    began_s = time.monotonic()
    try:
        look = _Look(members)
        reports = look.reports()
    except ConnectError as error:
        log.info("which connectors have nothing new is not known, so they are run: %s", error)
        return Found()
    except Exception:
        log.exception("which connectors have nothing new is not known, so they are run")
        return Found()
    spent_s = round(time.monotonic() - began_s, 3)
    for report in reports:
        report.durations_s = {"planning": spent_s, "total": spent_s}
    return Found({report.connector: report for report in reports}, look.read_before)


@dataclass
class _OfTopic:
    """The members that are in an offset topic. :ivar sinks: where each of them is."""

    sources: list[Member] = field(default_factory=list)
    sinks: list[tuple[Candidate, Offsets]] = field(default_factory=list)

    def views(self) -> ManyViews:
        return ManyViews([source.name for source in self.sources], [sink.group for sink, _ in self.sinks])


class _Look:
    """At members that reach Kafka in the same way."""

    def __init__(self, members: list[Member]) -> None:
        first = members[0]
        self._members, self._worker = members, first.worker
        self._clients = ClientConfigs(first.worker.props, first.config.props)
        self._admin = PollingAdmin(self._clients.admin(), _TIMEOUT_S)
        self.read_before: dict[str, ReadBefore] = {}

    def reports(self) -> list[RunReport]:
        """The reports of those that have nothing to do.

        1 which topics there are
        2 what the sinks have committed, and where their topics end
        3 what the offset topics hold
        4 each member by itself: what is wrong with one says nothing about the others
        """
        existing = self._admin.check_reachable()  # 1
        sinks = candidates(self._members, self._worker, existing)
        seen = SinksSeen(self._admin, sinks)  # 2
        topics = {topic: _OfTopic(sources) for topic, sources in by_offset_topic(self._members, existing).items()}
        for sink in sinks:
            if (offsets := seen.caught_up(sink)) is not None:
                topics.setdefault(self._worker.offset_topic, _OfTopic()).sinks.append((sink, offsets))
        ids = {topic: described.id for topic, described in self._admin.described(topics).items()}
        looks: list[tuple[Member, Callable[[], RunReport | None]]] = []
        for topic, members in topics.items():
            views = members.views()
            if self._is_whole(topic, existing[topic], ids.get(topic), views):  # 3
                looks += [(member, partial(self._of_source, member, views)) for member in members.sources]
            looks += [(sink.member, partial(self._of_sink, seen, sink, at, views)) for sink, at in members.sinks]
        return [report for member, look in looks if (report := _careful(member, look)) is not None]  # 4

    def _of_source(self, member: Member, views: ManyViews) -> RunReport | None:
        return idle_source_report(member, views.sources[member.name], self._has_written)

    @staticmethod
    def _of_sink(seen: SinksSeen, sink: Candidate, offsets: Offsets, views: ManyViews) -> RunReport | None:
        are_kept = seen.are_kept(sink, offsets, views.sinks[sink.group])
        return idle_sink_report(sink, offsets) if are_kept else None

    def _has_written(self, name: str) -> bool:
        """Whether runs of a source are known to have written to topics: see `LostOffsets`."""
        return self._statuses is not None and bool(self._statuses.connector(name).topics)

    @cached_property
    def _statuses(self) -> StatusStore | None:
        if not self._worker.writes_statuses:
            return None
        store = StatusStore(self._worker)
        store.refresh()
        return store

    def _is_whole(self, topic: str, partitions: int, topic_id: str | None, views: ManyViews) -> bool:
        """Read an offset topic; whether all that was written to it is known.

        After the beginning of an open transaction there may be newer offsets of sources. Sinks have theirs in a group.
        """
        # It joins no group. The name is one that the principal may use.
        group = next(iter(views.sinks), f"connect-{next(iter(views.sources), '')}-offsets")
        topic_log = CompactedLog(self._admin, self._clients.consumer(group), topic, _PATIENCE_S)
        try:
            topic_log.read(range(partitions), views.add)
        except OpenTransactionError as error:
            log.info("%s", error)
            return False
        finally:
            views.note_others()
        if topic_id is not None:
            for name, view in views.sources.items():
                self.read_before[name] = ReadBefore(topic, topic_id, topic_log.positions, view)
        return True


def _careful(member: Member, look: Callable[[], RunReport | None]) -> RunReport | None:
    """A report with which a run would end well; None: the run says what is wrong."""
    try:
        report = look()
    except ConnectError:
        return None
    except (Exception, SystemExit):
        log.exception("whether connector %s has anything new is not known, so it is run", member.name)
        return None
    chosen = [kind.strip() for kind in member.config.props.get(FAIL_ON_WARNING, "").split(",")]
    return None if report is None or failing(report.warnings, chosen) else report
