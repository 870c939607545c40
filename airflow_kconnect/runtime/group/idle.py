"""Which connectors of a group have nothing new: one look at Kafka for all of them, before their runs begin.

A connector that certainly has nothing to do gets the report that a run of it would have made. Of everything unusual the
run decides, which explains it: see docs/decisions/0056.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.hosting.inspection import class_version
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.run import RunReport
from airflow_kconnect.connect.run_warnings import FAIL_ON_WARNING, failing
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, OpenTransactionError
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.runtime.group.idle_sinks import Candidate, SinksSeen, candidates, idle_sink_report
from airflow_kconnect.runtime.group.member import Member
from airflow_kconnect.stores.offset_topic.many_views import ManyViews
from airflow_kconnect.stores.status_topic.ended_runs import EndedRun, tell_ended
from airflow_kconnect.stores.status_topic.run_facts import facts_of
from airflow_kconnect.stores.status_topic.run_history import entry_of, now_ms
from airflow_kconnect.stores.status_topic.run_records import RunRecord

log = logging.getLogger("kconnect.group")

# Of one that never answers, each run says so by itself.
_TIMEOUT_S = 10.0
_PATIENCE_S = 5.0
_CLUSTERS_AT_ONCE = 8
# What they override says nothing about how Kafka is reached.
_OF_RUNS = ("consumer.override.group.id", "consumer.override.auto.offset.reset")


def idle_reports(members: Sequence[Member]) -> dict[str, RunReport]:
    """The reports of those that have nothing to do, by their names; all others are to be run.

    There is one admin client, and at most one consumer at a time, for all members that reach Kafka in the same way.
    Nothing is fenced or committed. Raises nothing: what cannot be looked at is to be run. Statuses and entries of runs
    are written as those of runs that have ended well.
    """
    alike: dict[str, list[Member]] = {}
    for member in members:
        if member.spec.live:
            alike.setdefault(_way(member), []).append(member)
    if not alike:
        return {}
    reports: dict[str, RunReport] = {}
    with ThreadPoolExecutor(min(len(alike), _CLUSTERS_AT_ONCE), thread_name_prefix="idle") as threads:
        for found in threads.map(_looked, alike.values()):
            reports |= found
    return reports


def _way(member: Member) -> str:
    """Equal for members whose clients have the same configurations."""
    props = member.config.props
    overrides = {key: text for key, text in props.items() if ".override." in key and key not in _OF_RUNS}
    return json.dumps([dict(member.worker.props), overrides], sort_keys=True)


def _looked(members: list[Member]) -> dict[str, RunReport]:
    began_s, entries = time.monotonic(), {member.name: entry_of(member.spec) for member in members}
    try:
        reports = _Look(members).reports()
    except ConnectError as error:
        log.info("which connectors have nothing new is not known, so they are run: %s", error)
        return {}
    except Exception:
        log.exception("which connectors have nothing new is not known, so they are run")
        return {}
    spent_s = round(time.monotonic() - began_s, 3)
    for report in reports:
        report.durations_s = {"planning": spent_s, "total": spent_s}
    found = {report.connector: report for report in reports}
    tell_ended(
        members[0].worker,
        [_ended(member, entries[member.name], found[member.name]) for member in members if member.name in found],
    )
    return found


def _ended(member: Member, entry: RunRecord, report: RunReport) -> EndedRun:
    spec, config = member.spec, member.config
    facts = facts_of(spec.config, config.kind, config.props)
    run = facts.cleaned(entry.with_report(report).ended(now_ms()), member.hide)
    version = class_version({key: str(text) for key, text in spec.config.items()}, member.worker)
    return EndedRun(member.name, run, facts.connector, tuple(report.topics), version)


class _Look:
    """At members that reach Kafka in the same way."""

    def __init__(self, members: list[Member]) -> None:
        first = members[0]
        self._members, self._worker = members, first.worker
        self._clients = ClientConfigs(first.worker.props, first.config.props)
        self._admin = PollingAdmin(self._clients.admin(), _TIMEOUT_S)

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
        at_ends = [(sink, offsets) for sink in sinks if (offsets := seen.caught_up(sink)) is not None]
        views = self._views(existing, [sink for sink, _ in at_ends])  # 3
        found = [_careful(sink.member, partial(self._of_sink, seen, sink, at, views)) for sink, at in at_ends]  # 4
        return [report for report in found if report is not None]

    def _of_sink(
        self, seen: SinksSeen, sink: Candidate, offsets: dict[TopicPartition, int], views: Mapping[str, ManyViews]
    ) -> RunReport | None:
        view = views.get(self._worker.offset_topic)
        if view is None or not seen.are_kept(sink, offsets, view.sinks[sink.group]):
            return None
        return idle_sink_report(sink, offsets)

    def _views(self, existing: Mapping[str, int], sinks: list[Candidate]) -> dict[str, ManyViews]:
        """What each offset topic holds; those that cannot be read to their ends are left out."""
        views: dict[str, ManyViews] = {}
        if sinks:
            views[self._worker.offset_topic] = ManyViews(groups=[sink.group for sink in sinks])
        return {topic: view for topic, view in views.items() if self._is_read(topic, existing.get(topic, 0), view)}

    def _is_read(self, topic: str, partitions: int, views: ManyViews) -> bool:
        # It joins no group. The name is one that the principal may use.
        config = self._clients.consumer(next(iter(views.sinks)))
        try:
            CompactedLog(self._admin, config, topic, _PATIENCE_S).read(range(partitions), views.add)
        except OpenTransactionError as error:
            log.info("%s", error)
            return False
        return True


def _careful(member: Member, look: Callable[[], RunReport | None]) -> RunReport | None:
    """A report with which a run would end well; None: the run says what is wrong."""
    try:
        report = look()
    except ConnectError:
        return None
    except Exception:
        log.exception("whether connector %s has anything new is not known, so it is run", member.name)
        return None
    chosen = [kind.strip() for kind in member.config.props.get(FAIL_ON_WARNING, "").split(",")]
    return None if report is None or failing(report.warnings, chosen) else report
