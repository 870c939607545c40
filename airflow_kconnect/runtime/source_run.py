"""A source run, exactly once: the driver's side of the protocol (DESIGN 4, KIP-618)."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from airflow_kconnect.connect.canonical import partition_identity
from airflow_kconnect.connect.connector import (
    NativeSourceConnector,
    Offset,
    PlanContext,
    PollSourceConnector,
    Progress,
    SourceConnector,
)
from airflow_kconnect.connect.errors import ConfigError, ConnectError, InternalError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connect.run import RunReport
from airflow_kconnect.connect.task_errors import unpack_error
from airflow_kconnect.kafka.admin import KafkaAdmin, ensure_compacted
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.producers import FlushingProducer, TransactionalProducer, fence, new_producer
from airflow_kconnect.runtime.encoding import converter_of, encoded
from airflow_kconnect.runtime.failpoints import failpoint
from airflow_kconnect.runtime.phases import Phases
from airflow_kconnect.runtime.poll_source import PollSettings, poll_frame
from airflow_kconnect.runtime.progress import ProgressMonitor
from airflow_kconnect.runtime.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.spark_jobs import collect_reports, observed
from airflow_kconnect.runtime.split_writer import SplitReport, WriterSettings
from airflow_kconnect.stores.offsets import OffsetView, read_view
from airflow_kconnect.stores.plans import PlanPointer
from airflow_kconnect.stores.records import PlanRecord, facts_key, marker_key, offset_value, plan_key

log = logging.getLogger(__name__)


@dataclass
class _Work:
    """One plan being carried out."""

    plan: PlanRecord
    view: OffsetView
    resumed: bool
    notes: dict[str, Any]


class SourceRun:
    """One run of a source connector.

    Raises errors of airflow_kconnect only; whatever it raises, what is committed stays exact and the next run goes on
    from there.
    """

    def __init__(self, settings: RunSettings, connector: SourceConnector, session: LazySession) -> None:
        self._settings, self._connector, self._session = settings, connector, session
        self._admin = KafkaAdmin(settings.clients.admin())
        self._consumer_config = settings.clients.consumer(f"connect-{settings.name}-offsets")
        self._log = CompactedLog(self._admin, self._consumer_config, settings.offset_topic)
        self._phases = Phases()
        self._key = converter_of(settings, "key")
        self._value = converter_of(settings, "value")

    def run(self) -> RunReport:
        """Steps 2 to 8; step 1 (spec, variables, validation) is over before.

        2 take the driver's transactional id: an older driver is fenced
        3 fence the tasks' ids, and only now read the offset topic
        4 take up an unfinished plan, or plan and write the plan record
        5-7 in the tasks, see `split_writer`
        8 source offsets and the end of the plan in one transaction, then the report
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        partitions = self._ensure_offset_topic()
        failpoint("before-fencing")
        self._phases.enter("fencing")
        with self._driver_producer() as producer:  # 2
            self._fence(0, self._settings.tasks_max)  # 3
            view = read_view(self._log, self._settings.name, partitions)
            failpoint("after-reading-offsets")
            self._phases.enter("planning")
            work = self._take_up(view) if view.plan else self._plan(view)  # 4
            if work.plan.tasks == 0:
                return self._report(work, [], 0)
            self._write_plan(producer, work.plan)
            self._log.read(range(partitions), view.add)
            self._phases.enter("moving records")
            reports, read = self._move(work, partitions)  # 5-7
            self._phases.enter("committing offsets")
            self._reconcile(reports, read)
            failpoint("before-final-commit")
            offsets = self._finish(producer, work, reports)  # 8
            failpoint("after-final-commit")
            return self._report(work, reports, read, offsets)

    def _ensure_offset_topic(self) -> int:
        worker = self._settings.worker
        prefix = "offset.storage."
        known = ("topic", "partitions", "replication.factor", "cleanup.policy", "file.filename")
        extra = {k.removeprefix(prefix): v for k, v in worker.props.items() if k.startswith(prefix)}
        return ensure_compacted(
            self._admin,
            self._settings.offset_topic,
            "offset.storage.topic",
            partitions=int(worker.get("offset.storage.partitions")),
            replication=int(worker.get("offset.storage.replication.factor")),
            settings={k: v for k, v in extra.items() if k not in known},
        )

    @contextmanager
    def _driver_producer(self) -> Iterator[TransactionalProducer | FlushingProducer]:
        settings = self._settings
        transactional_id = settings.driver_id if settings.exactly_once else None
        producer = new_producer(settings.clients.producer(transactional_id), f"driver of connector {settings.name}")
        try:
            yield producer
        finally:
            producer.close()

    def _fence(self, first: int, end: int) -> None:
        if self._settings.exactly_once:
            for task in range(first, end):
                config = self._settings.clients.producer(self._settings.task_id(task))
                fence(config, f"fencing task {task} of connector {self._settings.name}")

    def _take_up(self, view: OffsetView) -> _Work:
        """Go on with the plan of a run that did not finish; its tasks are fenced before its progress is read."""
        assert view.plan is not None
        self._fence(self._settings.tasks_max, view.plan.tasks)
        self._log.read(list(self._log.positions), view.add)
        old = view.plan
        if isinstance(self._connector, PollSourceConnector) or not old.splits:
            return self._plan(view)
        assert isinstance(self._connector, NativeSourceConnector)
        self._connector.recheck([split for k, split in enumerate(old.splits) if not _is_done(view, old, k)])
        log.info("taking up the unfinished plan of run=%s splits=%d", old.run_id, len(old.splits))
        return _Work(replace(old, run_id=self._settings.run_id), view, True, {})

    def _plan(self, view: OffsetView) -> _Work:
        run_id = self._settings.run_id
        if isinstance(self._connector, PollSourceConnector):
            tasks = len(self._task_configs(self._connector))
            return _Work(PlanRecord(uuid.uuid4().hex, run_id, tasks), view, False, {})
        assert isinstance(self._connector, NativeSourceConnector)
        settings = self._settings
        one_by_one = settings.max_duration_ms is not None  # a plain offset must say how far a stopped run came
        context = PlanContext(
            view.offsets,
            view.facts,
            settings.max_records,
            1 if one_by_one else settings.splits_max,
            lambda: self._session.spark,
        )
        plan = self._connector.plan(context)
        return _Work(PlanRecord(uuid.uuid4().hex, run_id, len(plan.splits), plan.splits), view, False, plan.notes)

    def _task_configs(self, connector: PollSourceConnector) -> list[dict[str, str]]:
        """:raises ConfigError: more tasks than ``tasks.max`` (KIP-1004)."""
        configs = connector.task_configs(self._settings.tasks_max)
        if len(configs) > self._settings.tasks_max:
            text = (
                f"The connector {self._settings.name} has generated {len(configs)} tasks, which is greater than"
                f" {self._settings.tasks_max}, the maximum number of tasks it is configured to create"
            )
            raise ConfigError({"tasks.max": [text]}, self._settings.name)
        return configs

    def _write_plan(self, producer: TransactionalProducer | FlushingProducer, plan: PlanRecord) -> None:
        producer.begin()
        producer.produce(self._settings.offset_topic, plan.encode(), plan_key(self._settings.name))
        producer.commit()

    def _move(self, work: _Work, partitions: int) -> tuple[list[SplitReport], int]:
        """Run the splits that are not done; returns their reports and how many records the sources delivered."""
        plan, view = work.plan, work.view
        splits = tuple(k for k in range(plan.tasks) if not _is_done(view, plan, k))
        if not splits:
            return [], 0
        spark = self._session.spark
        deadline = _deadline(self._settings)
        folder = tempfile.mkdtemp(prefix="kconnect-acks-")
        try:
            with ProgressMonitor(self._session.driver_host, len(splits), self._settings.max_records) as monitor:
                frame = self._frame(work, splits, deadline, folder)
                counted, count = observed(frame.df)
                rows = encoded(frame.with_df(counted), self._key, self._value)
                name, topic = self._settings.name, self._settings.offset_topic
                pointer = PlanPointer(name, topic, partitions, plan, self._log.positions, view.markers)
                writer = self._writer_settings(pointer, splits, frame, deadline, monitor, folder, view)
                reports = collect_reports(spark, rows, writer)
                return reports, count()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _frame(self, work: _Work, splits: tuple[int, ...], deadline: float | None, folder: str) -> RecordFrame:
        if isinstance(self._connector, PollSourceConnector):
            return poll_frame(self._session.spark, self._poll_settings(self._connector, work.view, deadline, folder))
        assert isinstance(self._connector, NativeSourceConnector)
        todo = [(k, work.plan.splits[k], _progress(work, k)) for k in splits]
        return self._connector.read(self._session.spark, todo)

    def _poll_settings(
        self, connector: PollSourceConnector, view: OffsetView, deadline: float | None, folder: str
    ) -> PollSettings:
        configs = self._task_configs(connector)
        most = self._settings.max_records
        count = len(configs)
        shares = [None if most is None else most // count + (n < most % count) for n in range(count)]
        timeout_ms = int(self._settings.worker.get("task.shutdown.graceful.timeout.ms"))
        return PollSettings(
            connector.task_class(),
            tuple(configs),
            view.offsets,
            connector.shapes(),
            tuple(shares),
            deadline,
            folder,
            timeout_ms / 1000,
        )

    def _writer_settings(
        self,
        pointer: PlanPointer,
        splits: tuple[int, ...],
        frame: RecordFrame,
        deadline: float | None,
        monitor: ProgressMonitor,
        folder: str,
        view: OffsetView,
    ) -> WriterSettings:
        settings, poll = self._settings, isinstance(self._connector, PollSourceConnector)
        worker = settings.worker
        internal = {worker.get(f"{store}.storage.topic") for store in ("offset", "config", "status")}
        ids = {k: settings.task_id(k) if settings.exactly_once else None for k in splits}
        return WriterSettings(
            pointer=pointer,
            splits=splits,
            producer_configs={k: settings.clients.producer(task_id) for k, task_id in ids.items()},
            consumer_config=self._consumer_config,
            admin_config=settings.clients.admin(),
            constant_topic=frame.constant_topic,
            topic_creation=settings.topic_creation,
            internal_topics=frozenset({str(topic) for topic in internal} | {settings.offset_topic}),
            chunk_ms=settings.chunk_ms,
            deadline_epoch_s=deadline,
            poll=poll,
            progress=monitor.address,
            known_keys=known_keys(view),
            ack_folder=folder if poll else None,
        )

    def _reconcile(self, reports: list[SplitReport], read: int) -> None:
        """Everything that was read must be accounted for, or the run fails before the offsets are committed.

        :raises InternalError: it is not. :raises ConnectError: the error of a split.
        """
        failed = [report for report in reports if report.error]
        if failed:
            raise _worst([unpack_error(report.error) for report in failed if report.error])
        stopped = any(not report.done for report in reports) and self._settings.max_duration_ms is not None
        accounted = sum(report.written + report.already_done for report in reports)
        if accounted != read and not stopped:
            raise InternalError(
                f"connector {self._settings.name}: {read} records were read but {accounted} are accounted for;"
                " the source offsets were not committed"
            )

    def _finish(
        self, producer: TransactionalProducer | FlushingProducer, work: _Work, reports: list[SplitReport]
    ) -> list[tuple[dict[str, Any], Offset]]:
        name, topic = self._settings.name, self._settings.offset_topic
        offsets = list(self._new_offsets(work, reports))
        producer.begin()
        for partition, offset in offsets:
            self._produce_offset(producer, work.view, partition, offset)
        for k in range(len(work.plan.splits)):
            producer.produce(topic, None, marker_key(name, k))
        producer.produce(topic, None, plan_key(name))
        failpoint("during-final-commit")
        producer.commit()
        return offsets or [pair for report in reports for pair in report.offsets]

    def _new_offsets(self, work: _Work, reports: list[SplitReport]) -> Iterator[tuple[dict[str, Any], Offset]]:
        """The offset of each source partition: that of its last split, or of the one that was stopped before it."""
        if not isinstance(self._connector, NativeSourceConnector):
            return
        ends = {k: _end(work, k, reports) for k in range(len(work.plan.splits))}
        newest: dict[str, tuple[dict[str, Any], Offset]] = {}
        stopped: set[str] = set()
        for k, split in enumerate(work.plan.splits):
            identity, (progress, done) = partition_identity(split.source_partition), ends[k]
            if identity not in stopped and progress is not None:
                newest[identity] = (split.source_partition, self._connector.offset(split, progress))
            if not done:
                stopped.add(identity)
        yield from newest.values()

    def _produce_offset(
        self,
        producer: TransactionalProducer | FlushingProducer,
        view: OffsetView,
        partition: dict[str, Any],
        offset: Offset,
    ) -> None:
        assert isinstance(self._connector, NativeSourceConnector)
        topic = self._settings.offset_topic
        key, outdated = view.offset_keys(partition)
        producer.produce(topic, offset_value(offset), key)
        for old in outdated:
            producer.produce(topic, None, old)
        facts = self._connector.facts(partition, offset)
        if facts is not None:
            producer.produce(topic, offset_value(facts), facts_key(self._settings.name, partition_identity(partition)))

    def _report(
        self,
        work: _Work,
        reports: list[SplitReport],
        read: int,
        offsets: list[tuple[dict[str, Any], Offset]] | None = None,
    ) -> RunReport:
        settings = self._settings
        current = offsets if offsets is not None else list(work.view.committed())
        return RunReport(
            connector=settings.name,
            kind="source",
            connector_class=type(self._connector).__name__,
            run_id=settings.run_id,
            guarantee=settings.guarantee,
            records={
                "read": read,
                "written": sum(report.written for report in reports),
                "filtered": 0,
                "dead_lettered": 0,
                "already_done": sum(report.already_done for report in reports),
            },
            topics=sorted({topic for report in reports for topic in report.topics}),
            offsets=[{"partition": partition, "offset": offset} for partition, offset in current],
            splits=work.plan.tasks,
            resumed_plan=work.resumed,
            complete=all(report.done for report in reports) and not work.notes.get("more"),
            notes=work.notes,
            warnings=list(settings.config.warnings),
            durations_s=self._phases.durations(),
        )


def _is_done(view: OffsetView, plan: PlanRecord, split: int) -> bool:
    marker = view.markers.get(split)
    return marker is not None and marker.plan_id == plan.plan_id and marker.done


def _progress(work: _Work, split: int) -> Progress:
    marker = work.view.markers.get(split)
    if marker and marker.plan_id == work.plan.plan_id and marker.progress is not None:
        return marker.progress
    return work.plan.splits[split].start


def _end(work: _Work, split: int, reports: list[SplitReport]) -> tuple[Progress | None, bool]:
    """How far a split is, and whether that is its end."""
    if _is_done(work.view, work.plan, split):
        return work.plan.splits[split].end, True
    report = next(report for report in reports if report.split == split)
    return (work.plan.splits[split].end, True) if report.done else (report.progress, False)


def _deadline(settings: RunSettings) -> float | None:
    return None if settings.max_duration_ms is None else time.time() + settings.max_duration_ms / 1000


def _worst(errors: list[ConnectError]) -> ConnectError:
    """A bad record explains more than the fencing or the time-out that it caused elsewhere."""
    return min(errors, key=lambda error: error.exit_code)


def known_keys(view: OffsetView) -> Mapping[str, bytes]:
    """The keys under which the topic already has this connector's offsets."""
    return {partition_identity(partition): view.offset_keys(partition)[0] for partition, _ in view.committed()}
