"""A source run, exactly once: the driver's side of the protocol (DESIGN 4, KIP-618)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from airflow_kconnect.connect.canonical import partition_identity
from airflow_kconnect.connect.connector import ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.errors import ConnectError, FencedError, InternalError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connect.run import RunReport
from airflow_kconnect.connect.task_errors import unpack_error
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.producers import CommittingProducer
from airflow_kconnect.runtime.dead_letters import with_error_column, with_originals
from airflow_kconnect.runtime.encoding import converter_of, encoded
from airflow_kconnect.runtime.failpoints import failpoint
from airflow_kconnect.runtime.phases import SOURCE_PHASES, Phases
from airflow_kconnect.runtime.progress import ProgressAddress, ProgressMonitor
from airflow_kconnect.runtime.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.source_kinds import kind_of
from airflow_kconnect.runtime.spark_jobs import collect_reports, observed
from airflow_kconnect.runtime.split_report import SplitReport
from airflow_kconnect.runtime.split_writer import WriterSettings
from airflow_kconnect.runtime.work import NewOffset, Work
from airflow_kconnect.stores.fencing import SourceFence
from airflow_kconnect.stores.offsets import OffsetView, read_view
from airflow_kconnect.stores.plans import PlanPointer
from airflow_kconnect.stores.records import PlanRecord, facts_key, marker_key, offset_value, plan_key
from airflow_kconnect.stores.topics import ensure_dead_letter_topic, ensure_offset_topic
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain

log = logging.getLogger(__name__)

# The identity of the fact that a replay is over: no source partition has it, theirs are JSON objects.
_REPLAYED = "replayed"


class SourceRun:
    """One run of a source connector.

    Raises errors of airflow_kconnect only; whatever it raises, what is committed stays exact and the next run goes on
    from there.
    """

    def __init__(self, settings: RunSettings, connector: SourceConnector, session: LazySession) -> None:
        self._settings, self._connector, self._session = settings, connector, session
        self._kind = kind_of(settings, connector, session)
        self._admin = KafkaAdmin(settings.clients.admin())
        self._consumer_config = settings.clients.consumer(f"connect-{settings.name}-offsets")
        self._log = CompactedLog(self._admin, self._consumer_config, settings.offset_topic)
        self._phases = Phases(SOURCE_PHASES, settings.name)
        self._key = converter_of(settings, "key")
        self._value = converter_of(settings, "value")
        self._header = converter_of(settings, "header")
        self._chain = Chain.from_props(settings.config.props)
        self._fence = SourceFence(
            settings.clients, settings.group_id, settings.offsets_name, exactly_once=settings.exactly_once
        )

    def run(self) -> RunReport:
        """Steps 2 to 8; step 1 (spec, variables, validation) is over before.

        2 take the driver's transactional id: an older driver is fenced
        3 fence the tasks' ids, and only now read the offset topic
        4 take up an unfinished plan, or plan; write the plan record
        5-7 in the tasks, see `split_writer`
        8 source offsets and the end of the plan in one transaction, then the report
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        partitions = ensure_offset_topic(self._admin, self._settings.worker, self._settings.offset_topic)
        failpoint("before-fencing")
        self._phases.enter("fencing")
        if self._settings.dry_run:
            return self._dry_run(partitions)
        with self._fence.driver("driver") as producer, self._kind:  # 2
            view = self._view(partitions)  # 3
            failpoint("after-reading-offsets")
            self._phases.enter("planning")
            if _REPLAYED in view.facts:
                return self._report(Work(PlanRecord("", "", 0), view, notes={"already_replayed": True}), [], 0, [])
            work = self._plan(view)  # 4
            if work.plan.tasks == 0:
                return self._report(work, [], 0, [NewOffset(*found) for found in view.committed()])
            self._write_plan(producer, work.plan)
            ensure_dead_letter_topic(self._admin, self._settings.errors.topic, self._settings.config.props)
            view.read(self._log, range(partitions))
            self._phases.enter("preparing the Spark job")
            reports, read = self._move(work, partitions)  # 5-7
            self._phases.enter("committing offsets")
            self._reconcile(reports, read)
            failpoint("before-final-commit")
            offsets = self._kind.offsets(work, reports)
            self._commit(producer, work, offsets)  # 8
            failpoint("after-final-commit")
            return self._report(work, reports, read, offsets)

    def _dry_run(self, partitions: int) -> RunReport:
        """Plan, and say what was planned; nobody is fenced."""
        with self._kind:
            self._phases.enter("planning")
            work = self._kind.plan(read_view(self._log, self._settings.offsets_name, partitions))
            splits = [asdict(split) for split in work.plan.splits]
            work = replace(work, notes={**work.notes, "dry_run": True, "would_read": splits})
            return self._report(work, [], 0, [])

    def _view(self, partitions: int) -> OffsetView:
        """What the offset topic says when nobody else can write to it any more.

        A killed run leaves open transactions, which would keep the reader waiting for their timeout. Its plan, which
        says whose they are, was committed before them.
        """
        self._fence.tasks(self._settings.tasks_max)
        view = OffsetView(self._settings.offsets_name)
        self._log.read(range(partitions), view.add, committed=True)
        if view.plan is not None:
            self._fence.tasks(view.plan.tasks)
        view.read(self._log, range(partitions))
        return view

    def _plan(self, view: OffsetView) -> Work:
        """Go on with the plan of a run that did not finish, or make one.

        An unfinished plan may have more tasks than ``tasks.max``: they too are fenced before their progress counts.
        """
        old = view.plan
        if old is not None:
            if self._fence.tasks(old.tasks):
                view.read(self._log, list(self._log.positions))
            work = self._kind.take_up(view, old)
            if work is not None:
                log.info("taking up the unfinished plan of run=%s splits=%d", old.run_id, len(old.splits))
                return work
        return self._kind.plan(view)

    def _write_plan(self, producer: CommittingProducer, plan: PlanRecord) -> None:
        producer.begin()
        producer.produce(self._settings.offset_topic, plan.encode(), plan_key(self._settings.offsets_name))
        producer.commit()

    def _move(self, work: Work, partitions: int) -> tuple[list[SplitReport], int]:
        """Run the splits that are not done; returns their reports and how many records the source delivered."""
        splits = work.to_do
        if not splits:
            return [], 0
        settings, spark = self._settings, self._session.spark
        limit_ms = settings.max_duration_ms
        deadline = None if limit_ms is None else time.time() + limit_ms / 1000
        pointer = PlanPointer(
            settings.offsets_name, settings.offset_topic, partitions, work.plan, self._log.positions, work.view.markers
        )
        with ProgressMonitor(self._session.driver_host, len(splits), settings.max_records) as monitor:
            frame = self._kind.frame(work, splits, deadline)
            counted, count = observed(frame.df, padded=self._kind.poll)
            frame = self._transformed(frame.with_df(counted))
            rows = encoded(frame, self._key, self._value)
            writer = self._writer_settings(work, pointer, splits, frame, deadline, monitor.address)
            self._phases.enter("moving records")
            return collect_reports(spark, rows, writer), count()

    def _transformed(self, frame: RecordFrame) -> RecordFrame:
        """The frame behind the transformations, with what dead letters are to hold."""
        settings = self._settings
        if settings.errors.topic is not None:
            frame = with_originals(frame, self._key, self._value)
        if self._chain.links:
            scope = Scope(is_sink=False, header_converter=self._header)
            frame = self._chain.apply(with_error_column(frame), scope)
        suffix = settings.config.common["kconnect.replay.topic.suffix"] if settings.replay else ""
        return with_topic_suffix(frame, suffix) if suffix else frame

    def _writer_settings(
        self,
        work: Work,
        pointer: PlanPointer,
        splits: tuple[int, ...],
        frame: RecordFrame,
        deadline: float | None,
        progress: ProgressAddress,
    ) -> WriterSettings:
        settings, worker = self._settings, self._settings.worker
        internal = {str(worker.get(f"{store}.storage.topic")) for store in ("offset", "config", "status")}
        return WriterSettings(
            pointer=pointer,
            splits=splits,
            producer_configs=self._producer_configs(work, splits),
            consumer_config=self._consumer_config,
            admin_config=settings.clients.admin(),
            constant_topic=frame.constant_topic,
            topic_creation=settings.topic_creation,
            internal_topics=frozenset(internal | {settings.offset_topic}),
            chunk_ms=settings.chunk_ms,
            deadline_epoch_s=deadline,
            poll=self._kind.poll,
            progress=progress,
            known_keys=_known_keys(work.view),
            errors=settings.errors,
        )

    def _producer_configs(self, work: Work, splits: tuple[int, ...]) -> dict[int, dict[str, Any]]:
        """Of each split. One that cannot commit in parts has the longest transaction that the broker allows."""
        clients, own = self._settings.clients, self._kind.indivisible(work, splits)
        if not self._settings.exactly_once:
            return {k: clients.producer(None) for k in splits}
        longest = {"transaction.timeout.ms": self._admin.longest_transaction_ms()} if own else {}
        ids = {k: self._settings.task_id(k) for k in splits}
        return {k: (longest if k in own else {}) | clients.producer(ids[k]) for k in splits}

    @property
    def _guarantee(self) -> str:
        """Transactions alone do not make it exactly once: the connector must resume where it stopped."""
        settings = self._settings
        supported = self._connector.exactly_once_support(settings.config.props) is ExactlyOnceSupport.SUPPORTED
        return "exactly_once" if settings.exactly_once and supported else "at_least_once"

    def _reconcile(self, reports: list[SplitReport], read: int) -> None:
        """Everything that was read must be accounted for, or the run fails before the offsets are committed.

        :raises InternalError: it is not. :raises ConnectError: the error of a split.
        """
        failed = [unpack_error(report.error) for report in reports if report.error]
        if failed:
            raise _first_cause(failed)
        accounted = sum(report.handled + report.already_done for report in reports)
        stopped = any(not report.done for report in reports) and self._settings.max_duration_ms is not None
        if accounted != read and not stopped:
            raise InternalError(
                f"connector {self._settings.name}: {read} records were read but {accounted} are accounted for;"
                " the source offsets were not committed"
            )

    def _commit(self, producer: CommittingProducer, work: Work, offsets: list[NewOffset]) -> None:
        name, topic = self._settings.offsets_name, self._settings.offset_topic
        producer.begin()
        if self._settings.replay:
            done = {"interval": str(self._settings.replay), "run": self._settings.run_id}
            producer.produce(topic, offset_value(done), facts_key(name, _REPLAYED))
        elif not self._kind.poll:  # tasks have committed theirs
            for new in offsets:
                self._produce_offset(producer, work.view, new)
        for k in range(len(work.plan.splits)):
            producer.produce(topic, None, marker_key(name, k))
        producer.produce(topic, None, plan_key(name))
        failpoint("during-final-commit")
        producer.commit()

    def _produce_offset(self, producer: CommittingProducer, view: OffsetView, new: NewOffset) -> None:
        topic = self._settings.offset_topic
        key, outdated = view.offset_keys(new.partition)
        if new.offset is not None:
            producer.produce(topic, offset_value(new.offset), key)
            for old in outdated:
                producer.produce(topic, None, old)
        if new.facts is not None:
            facts = facts_key(self._settings.name, partition_identity(new.partition))
            producer.produce(topic, offset_value(new.facts), facts)

    def _report(self, work: Work, reports: list[SplitReport], read: int, offsets: list[NewOffset]) -> RunReport:
        settings = self._settings
        return RunReport(
            connector=settings.name,
            kind="source",
            connector_class=type(self._connector).__name__,
            run_id=settings.run_id,
            guarantee=self._guarantee,
            records={
                "read": read,
                "written": sum(report.written for report in reports),
                "filtered": sum(report.filtered for report in reports),
                "dead_lettered": sum(report.dead_lettered for report in reports),
                "already_done": sum(report.already_done for report in reports),
            },
            topics=sorted(work.topics_before.union(*(report.topics for report in reports))),
            offsets=[{"partition": new.partition, "offset": new.offset} for new in offsets],
            replay=str(settings.replay) if settings.replay else None,
            splits=work.plan.tasks,
            resumed_plan=work.resumed,
            complete=all(report.done for report in reports) and not work.notes.get("more") and not work.given_up,
            notes={**work.notes, "given_up_splits": sorted(work.given_up)} if work.given_up else work.notes,
            warnings=list(settings.config.warnings),
            durations_s=self._phases.durations(),
        )


def with_topic_suffix(frame: RecordFrame, suffix: str) -> RecordFrame:
    """The same records, for other topics."""
    from pyspark.sql import functions as F

    if frame.topic is None:
        return replace(frame, constant_topic=f"{frame.constant_topic}{suffix}")
    return frame.with_df(frame.df.withColumn(frame.topic, F.concat(F.col(frame.topic), F.lit(suffix))))


def _first_cause(errors: list[ConnectError]) -> ConnectError:
    """A bad record explains more than the errors that it caused elsewhere, and fencing more than a time-out.

    A fenced run that ended as worth a retry would come back and fence its successor.
    """
    return min(errors, key=lambda error: (error.exit_code > 1, not isinstance(error, FencedError), error.exit_code))


def _known_keys(view: OffsetView) -> Mapping[str, bytes]:
    """The keys under which the topic already has this connector's offsets."""
    return {partition_identity(partition): view.offset_keys(partition)[0] for partition, _ in view.committed()}
