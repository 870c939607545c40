"""A source run, exactly once: the driver's side of the protocol (KIP-618). See docs/architecture.md."""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import asdict, replace
from typing import Any

from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.errors import DataError, InternalError
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.kafka.producers import CommittingProducer
from airflow_kconnect.runs.end import Left, left_by_plan, waiting
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.phases import SOURCE_PHASES, PhaseTimer
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.source.kinds import kind_of
from airflow_kconnect.runtime.source.moving import Mover
from airflow_kconnect.runtime.source.poll import new_shapes
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.work import NewOffset, PlanOutcome, Work
from airflow_kconnect.runtime.written_ranges import entries, merged
from airflow_kconnect.stores.fencing import SourceFence
from airflow_kconnect.stores.offset_topic.lost import LostOffsets
from airflow_kconnect.stores.offset_topic.many_views import ReadBefore
from airflow_kconnect.stores.offset_topic.records import (
    SHAPES,
    Claim,
    PlanRecord,
    claim_key,
    facts_key,
    marker_key,
    offset_value,
    plan_key,
)
from airflow_kconnect.stores.offset_topic.view import OffsetView, read_view
from airflow_kconnect.stores.topics import ensure_dead_letter_topic, ensure_offset_topic

log = logging.getLogger(__name__)

# The identity of the fact that a replay is complete: no source partition has it, since theirs are JSON objects.
_REPLAYED = "replayed"


class SourceRun:
    """One run of a source connector.

    Raises errors of airflow_kconnect only; whatever it raises, what is committed stays exact and the next run resumes
    from there.

    :param read_before: what was read of its offset topic already.
    """

    def __init__(
        self,
        settings: RunSettings,
        connector: SourceConnector,
        session: LazySession,
        read_before: ReadBefore | None = None,
    ) -> None:
        self._settings, self._connector = settings, connector
        self._kind = kind_of(settings, connector, session)
        self._admin = KafkaAdmin(settings.clients.admin())
        consumer = settings.clients.consumer(f"connect-{settings.name}-offsets")
        self._log = CompactedLog(self._admin, consumer, settings.offset_topic, settings.clients.patience_s)
        # A replay has another name, under which no statuses are written: it never counts as having run before.
        self._lost = LostOffsets(settings.offsets_name, settings.worker, self._admin, settings.offset_topic)
        self._read_before = read_before
        self._phases = PhaseTimer(SOURCE_PHASES, settings.name)
        self._ranges: dict[str, list[int]] = {}  # of a replay, with those of earlier attempts
        self._mover = Mover(settings, self._kind, session, self._admin, self._log, self._phases)
        self._fence = SourceFence(
            settings.clients, settings.group_id, settings.offsets_name, exactly_once=settings.exactly_once
        )

    def run(self) -> RunReport:
        """Steps 2 to 8; step 1 (spec, variables, validation) has already been done.

        2 acquire the driver's transactional id: an older driver is fenced
        3 claim the connector, fence the tasks' ids, and only now read the offset topic
        4 resume an unfinished plan, or plan and write the plan record
        5-7 in the tasks, see `split_writer`
        8 source offsets and the end of the plan in one transaction; again from 4 if the plan did not cover everything;
          then the report
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        self._lost.check_exists()
        if self._settings.dry_run:
            return self._dry_run()
        partitions = ensure_offset_topic(self._admin, self._settings.worker, self._settings.offset_topic)
        failpoint("before-fencing")
        self._phases.enter("fencing")
        with self._fence.driver("driver") as producer, self._kind:  # 2
            failpoint("before-claim")
            view = self._known_view()
            claim = self._fence.take_over(  # 3
                producer, self._log, partitions, view, self._settings.run_id, self._settings.tasks_max
            )
            view.check_readable()
            self._lost.check_view(view)
            failpoint("after-reading-offsets")
            if _REPLAYED in view.facts:
                self._ranges = json.loads(view.facts[_REPLAYED].get("ranges", "{}"))
                return self._report([PlanOutcome(Work(PlanRecord("", "", 0), view, notes={"already_replayed": True}))])
            claim, outcome = self._carry_out(producer, claim, view, partitions)
            outcomes = [outcome]
            while self._has_more(outcome):
                view.read(self._log, range(partitions))
                self._phases.again(self._why_again(outcome))
                claim, outcome = self._carry_out(producer, claim, view, partitions, again=True)
                outcomes.append(outcome)
            return self._report(outcomes)

    def _known_view(self) -> OffsetView:
        """What is known before the topic is read: nothing, or what was read of the same topic before."""
        before, topic = self._read_before, self._settings.offset_topic
        if before is not None and before.topic == topic and self._settings.replay is None:
            described = self._admin.described([topic]).get(topic)
            if described is not None and described.id == before.topic_id:
                self._log.positions |= before.positions
                return before.view
        return OffsetView(self._settings.offsets_name)

    def _has_more(self, last: PlanOutcome) -> bool:
        """Whether the plan did not cover everything, and there is time for another one."""
        return last.work.cut and self._mover.in_time and all(report.done for report in last.reports)

    @staticmethod
    def _why_again(last: PlanOutcome) -> str:
        found = any(new_shapes(report.bound) is not None for report in last.reports)
        return "records have new shapes" if found else "the last plan did not hold everything"

    def _carry_out(
        self, producer: CommittingProducer, claim: Claim, view: OffsetView, partitions: int, *, again: bool = False
    ) -> tuple[Claim, PlanOutcome]:
        """Steps 4 to 8; returns the claim to continue with.

        :param again: whether it is not the run's first plan.
        """
        self._phases.enter("planning")
        work = self._work(view)  # 4
        if work.plan.tasks == 0:
            if again or (view.plan is not None and not self._kind.poll):
                claim = self._commit(producer, work, claim, [], partitions)  # it ends the claim, and a dropped plan
            committed = [NewOffset(*committed) for committed in view.committed()]
            return claim, PlanOutcome(self._tidied(producer, work, []), offsets=committed)
        if not work.resumed:
            self._write_plan(producer, work.plan, partitions)
        ensure_dead_letter_topic(self._admin, self._settings.errors.topic, self._settings.config.props)
        reports, read = self._mover.move(work, claim, partitions)  # 5-7
        self._phases.enter("committing offsets")
        read = self._reconcile(reports, read)
        self._ranges = merged([self._ranges, *work.ranges_before, *(report.ranges for report in reports)])
        failpoint("before-final-commit")
        if work.needs_plan(reports):
            return claim, PlanOutcome(work, reports, read)
        offsets = self._kind.offsets(work, reports)
        work = work.continued(
            offsets, bounded=self._settings.max_records is not None or self._settings.replay is not None
        )
        learned = self._kind.learned(reports)
        work = work if learned is None else replace(work, cut=True)
        claim = self._commit(producer, work, claim, offsets, partitions, learned)  # 8
        failpoint("after-final-commit")
        return claim, PlanOutcome(self._tidied(producer, work, offsets), reports, read, offsets)

    def _tidied(self, producer: CommittingProducer, work: Work, offsets: list[NewOffset]) -> Work:
        """The connector archives or removes what was read, after its offsets were committed; what is gone for good is
        forgotten.
        """
        tidied = None if self._settings.replay else self._kind.tidy(offsets)
        if tidied is None:
            return work
        failpoint("before-forgetting")
        if tidied.forgotten:
            name, topic = self._settings.offsets_name, self._settings.offset_topic
            producer.begin()
            for partition in tidied.forgotten:
                key, outdated = work.view.offset_keys(partition)
                for each in (key, *outdated, facts_key(name, partition_identity(partition))):
                    producer.produce_patiently(topic, None, each)
            if tidied.facts is not None:
                partition, facts = tidied.facts
                producer.produce_patiently(topic, offset_value(facts), facts_key(name, partition_identity(partition)))
            producer.commit()
        warnings = {"warnings": [*work.notes.get("warnings", ()), *tidied.warnings]} if tidied.warnings else {}
        return replace(work, notes={**work.notes, **tidied.notes, **warnings})

    def _dry_run(self) -> RunReport:
        """Plan, and report the plan; fences no run and creates nothing."""
        with self._kind:
            self._phases.enter("planning")
            partitions = self._admin.partitions(self._settings.offset_topic)  # none without the topic
            view = read_view(self._log, self._settings.offsets_name, partitions)
            self._lost.check_view(view)
            work = self._kind.plan(view)
            splits = [asdict(split) for split in work.plan.splits]
            work = replace(work, notes={**work.notes, "dry_run": True, "would_read": splits})
            return self._report([PlanOutcome(work)])

    def _work(self, view: OffsetView) -> Work:
        """Resume an unfinished plan, or make a new one."""
        old = view.plan
        work = None if old is None else self._kind.resume(view, old)
        if old is None or work is None:
            return self._kind.plan(view)
        log.info("resuming the unfinished plan of run=%s splits=%d", old.run_id, len(old.splits))
        return work

    def _write_plan(self, producer: CommittingProducer, plan: PlanRecord, partitions: int) -> None:
        """:raises DataError: it exceeds the maximum record size."""
        key, value = plan_key(self._settings.offsets_name), plan.encode()
        producer.begin()
        try:
            producer.produce_patiently(self._settings.offset_topic, value, key, partition_of(key, partitions))
        except DataError as error:
            raise DataError(
                f"connector {self._settings.name}: the plan has {len(plan.splits)} splits, too many for one record"
                f" ({len(value)} bytes). Read fewer tables, or a shorter interval, at a time; or allow larger records:"
                " `producer.override.max.request.size`, and `max.message.bytes` of the offset topic"
            ) from error
        producer.commit()

    @property
    def _guarantee(self) -> str:
        """Transactions alone do not make it exactly once: the connector must be able to resume where it stopped."""
        settings = self._settings
        supported = self._connector.exactly_once_support(settings.config.props) is ExactlyOnceSupport.SUPPORTED
        return "exactly_once" if settings.exactly_once and supported else "at_least_once"

    def _reconcile(self, reports: list[SplitReport], read: int) -> int:
        """Everything that was read must be accounted for, or the run fails before the offsets are committed.

        :returns: how many records count as read; what came after the end of `kconnect.max.duration.ms` does not, nor
            what was dropped.
        :raises InternalError: records are missing.
        """
        accounted = sum(report.handled + report.already_done for report in reports)
        read -= sum(report.dropped for report in reports)
        stopped = any(not report.done for report in reports) and self._settings.max_duration_ms is not None
        if accounted != read and not stopped:
            raise InternalError(
                f"connector {self._settings.name}: {read} records were read but {accounted} are accounted for;"
                " the source offsets were not committed"
            )
        return accounted

    def _commit(
        self,
        producer: CommittingProducer,
        work: Work,
        claim: Claim,
        offsets: list[NewOffset],
        partitions: int,
        learned: dict[str, Any] | None = None,
    ) -> Claim:
        """The source offsets and the end of the plan; returns the claim to continue with.

        A straggling task must not consider the plan current: its markers are gone, so it would start from scratch. So
        the claim ends with the plan; a run that continues writes another one.
        """
        name, topic = self._settings.offsets_name, self._settings.offset_topic
        following = replace(claim, claim_id=uuid.uuid4().hex)
        keys = [plan_key(name), claim_key(name), *(marker_key(name, k) for k in range(len(work.plan.splits)))]
        ended = {(key, partition_of(key, partitions)) for key in keys} | set(work.view.of_runs())
        producer.begin()
        if self._settings.replay:
            ranges = json.dumps(self._ranges)
            done = {"interval": str(self._settings.replay), "run": self._settings.run_id, "ranges": ranges}
            producer.produce_patiently(topic, offset_value(done), facts_key(name, _REPLAYED))
        else:
            for new in offsets:
                self._produce_offset(producer, work.view, new)
            if learned is not None:
                producer.produce_patiently(topic, offset_value(learned), facts_key(name, SHAPES))
        for key, partition in sorted(ended):
            producer.produce_patiently(topic, None, key, partition)
        if work.cut:
            key = claim_key(name)
            producer.produce_patiently(topic, following.encode(), key, partition_of(key, partitions))
        failpoint("during-final-commit")
        producer.commit()
        return following

    def _produce_offset(self, producer: CommittingProducer, view: OffsetView, new: NewOffset) -> None:
        topic = self._settings.offset_topic
        key, outdated = view.offset_keys(new.partition)
        if new.offset is not None:
            if not self._kind.poll:  # tasks have committed theirs
                producer.produce_patiently(topic, offset_value(new.offset), key)
            for old in outdated:
                producer.produce_patiently(topic, None, old)
        if new.facts is not None:
            facts = facts_key(self._settings.name, partition_identity(new.partition))
            producer.produce_patiently(topic, offset_value(new.facts), facts)

    def _report(self, outcomes: list[PlanOutcome]) -> RunReport:
        settings, last = self._settings, outcomes[-1].work
        works = [outcome.work for outcome in outcomes]
        reports = [report for outcome in outcomes for report in outcome.reports]
        offsets = {partition_identity(new.partition): new for outcome in outcomes for new in outcome.offsets}
        given_up = sorted({k for work in works for k in work.given_up})
        notes = {key: value for work in works for key, value in work.notes.items() if key != "more" or work is last}
        notes.pop("warnings", None)
        planned = dict.fromkeys(warning for work in works for warning in work.notes.get("warnings", ()))
        if given_up:
            notes["given_up_splits"] = given_up
        return RunReport(
            connector=settings.name,
            kind="source",
            connector_class=settings.config.connector_class,
            run_id=settings.run_id,
            guarantee=self._guarantee,
            records={
                "read": sum(outcome.read for outcome in outcomes),
                "written": sum(report.written for report in reports),
                "filtered": sum(report.filtered for report in reports),
                "dead_lettered": sum(report.dead_lettered for report in reports),
                "already_done": sum(report.already_done for report in reports),
            },
            topics=sorted(set().union(*(outcome.topics for outcome in outcomes))),
            offsets=[{"partition": new.partition, "offset": new.offset} for new in offsets.values()],
            replay=str(settings.replay) if settings.replay else None,
            ranges=entries(self._ranges),
            splits=sum(work.plan.tasks for work in works),
            resumed_plan=works[0].resumed,
            incomplete=[*self._left(outcomes[-1], reports, given_up=bool(last.given_up))],
            notes=notes,
            warnings=[
                *(*settings.config.warnings, *planned, *waiting(last.notes)),
                *(() if settings.dry_run else self._connector.run_warnings()),
            ],
            durations_s=self._phases.durations(),
        )

    def _left(self, last: PlanOutcome, reports: list[SplitReport], *, given_up: bool) -> list[Left]:
        """Why the run is not complete."""
        settings, work = self._settings, last.work
        if settings.dry_run and work.plan.tasks:
            return [Left.DRY_RUN]
        bounds = {report.bound for report in reports if report.bound and new_shapes(report.bound) is None}
        left = [Left(bound) for bound in sorted(bounds)]
        if not all(report.done for report in reports):
            left.append(Left.MAX_DURATION)
        left += left_by_plan(work.notes, max_records=settings.max_records, given_up=given_up)
        # The rest of a replay's interval is in its plan, if no bound had cut it.
        is_whole = settings.replay is not None and settings.max_records is None
        return left or ([Left.RESUMED] if work.resumed and not is_whole and work.plan.splits else [])
