"""Moves the splits of a plan: in Python processes of the job's own if Catalyst has nothing to do, else by Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.error_cells import unpack_error
from airflow_kconnect.connect.errors import ConnectError, FencedError
from airflow_kconnect.connect.frame import BatchFrame, RecordFrame
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.runtime.conversion.encoding import batch_encodings, converter_of, encoded, whole_encodings
from airflow_kconnect.runtime.dead_letters import with_error_column, with_originals
from airflow_kconnect.runtime.process import split_processes
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.phases import PhaseTimer
from airflow_kconnect.runtime.process.progress import ProgressMonitor
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.report_rows import with_reports
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.source.kinds import SourceKind
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.without_jvm import SplitMove
from airflow_kconnect.runtime.source.work import Work
from airflow_kconnect.runtime.source.writer import WriterSettings, split_writer
from airflow_kconnect.runtime.spark_jobs import observed, run_job
from airflow_kconnect.stores.offset_topic.follower import PlanPointer
from airflow_kconnect.stores.offset_topic.records import Claim
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain
from airflow_kconnect.worker_config.keys import internal_topics_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HERE = "127.0.0.1"

Frame = RecordFrame | BatchFrame
Moved = tuple[list[SplitReport], int]
"""The reports of splits, and how many records the source delivered."""


class Mover:
    """Steps 5 to 7 of a run, seen from the driver.

    :param admin: of the run's Kafka. :param log: the offset topic, as far as the run has read it.
    """

    def __init__(
        self,
        settings: RunSettings,
        kind: SourceKind,
        session: LazySession,
        admin: KafkaAdmin,
        log: CompactedLog,
        phases: PhaseTimer,
    ) -> None:
        self._settings, self._kind, self._session, self._phases = settings, kind, session, phases
        self._admin, self._log = admin, log
        self._consumer_config = settings.clients.consumer(f"connect-{settings.name}-offsets")
        self._key, self._value, self._header = (converter_of(settings, role) for role in ("key", "value", "header"))
        self._chain = Chain.from_props(settings.config.props)
        # Of native splits, from the first on, in seconds since the epoch. Each Python task has one of its own.
        self._deadline: float | None = None

    @property
    def in_time(self) -> bool:
        """Whether there is time for another plan."""
        return self._deadline is None or time.time() < self._deadline

    def move(self, work: Work, claim: Claim, partitions: int) -> Moved:
        """Run the splits that are not done.

        :param partitions: of the offset topic.
        """
        splits = work.to_do
        if not splits:
            failpoint("before-tasks")
            return [], 0
        settings = self._settings
        pointer = PlanPointer(
            settings.offsets_name,
            settings.offset_topic,
            partitions,
            claim,
            work.plan,
            self._log.positions,
            work.view.markers,
            settings.clients.patience_s,
        )
        moved = self._without_jvm(work, splits, pointer)
        return self._by_spark(work, splits, pointer) if moved is None else moved

    def _without_jvm(self, work: Work, splits: tuple[int, ...], pointer: PlanPointer) -> Moved | None:
        """Move the splits without Spark; None if that has something to do."""
        processes = split_processes.of_this_job()
        frame = None if processes is None else self._batches(work, splits)
        if processes is None or frame is None:
            return None
        with self._serving(_HERE):
            encodings = whole_encodings(frame, self._key, self._value)
            if encodings is None:
                return None
            failpoint("before-tasks")
            with ProgressMonitor(_HERE, len(splits), self._settings.max_records) as monitor:
                self._phases.enter("moving records")
                writer = self._writer_settings(work, pointer, splits, frame, monitor)
                move = SplitMove(frame, replace(writer, encodings=encodings))
                at_once = self._kind.at_once(work, splits, self._session.parallelism())
                told = processes.run(move, len(splits), at_once)
                reports = [SplitReport(**report) for report in told]
            _raise_first(reports)  # converters that serve the tasks know more about it
        return reports, sum(report.read for report in reports)

    def _batches(self, work: Work, splits: tuple[int, ...]) -> BatchFrame | None:
        """The records as Python makes them, if nothing of Catalyst is between them and the converters."""
        if self._chain.links or self._settings.errors.topic is not None:
            return None
        frame = self._kind.batches(work, splits, self._max_duration_s)
        if frame is None or not self._suffix:
            return frame
        return None if frame.constant_topic is None else replace(frame, constant_topic=self._suffixed(frame))

    def _by_spark(self, work: Work, splits: tuple[int, ...], pointer: PlanPointer) -> Moved:
        self._session.short = self._kind.is_short(work, splits)
        self._session.start(self._phases)
        self._phases.enter("preparing the Spark job")
        failpoint("before-tasks")
        host = self._session.driver_host
        with ProgressMonitor(host, len(splits), self._settings.max_records) as monitor, self._serving(host):
            frame = self._kind.frame(work, splits, self._max_duration_s)
            writer = self._writer_settings(work, pointer, splits, frame, monitor)
            counted, count = observed(frame.df, padded=self._kind.poll)
            frame = self._transformed(frame.with_df(counted))
            later = batch_encodings(frame, self._key, self._value)
            rows = encoded(frame, self._key, self._value, later)
            writer = replace(writer, encodings=later, constant_topic=frame.constant_topic)
            self._phases.enter("moving records")
            reports = collect_reports(rows, writer)
            _raise_first(reports)
            return reports, count()

    @contextmanager
    def _serving(self, host: str) -> Iterator[None]:
        with self._key.serving(host), self._value.serving(host):
            yield

    @property
    def _max_duration_s(self) -> float | None:
        limit_ms = self._settings.max_duration_ms
        return None if limit_ms is None else limit_ms / 1000

    @property
    def _suffix(self) -> str:
        """Of the topics to which a replay writes."""
        return str(self._settings.config.common["kconnect.replay.topic.suffix"]) if self._settings.replay else ""

    def _suffixed(self, frame: Frame) -> str:
        return f"{frame.constant_topic}{self._suffix}"

    def _transformed(self, frame: RecordFrame) -> RecordFrame:
        """The frame after the transformations, with the content of dead letters."""
        if self._settings.errors.topic is not None:
            frame = with_originals(frame, self._key, self._value)
        if self._chain.links:
            scope = Scope(is_sink=False, header_converter=self._header)
            frame = self._chain.apply(with_error_column(frame), scope)
        if not self._suffix:
            return frame
        if frame.topic is None:
            return replace(frame, constant_topic=self._suffixed(frame))
        from pyspark.sql import functions as F

        return frame.with_df(frame.df.withColumn(frame.topic, F.concat(F.col(frame.topic), F.lit(self._suffix))))

    def _writer_settings(
        self,
        work: Work,
        pointer: PlanPointer,
        splits: tuple[int, ...],
        frame: Frame,
        monitor: ProgressMonitor,
    ) -> WriterSettings:
        settings = self._settings
        limit_s = self._max_duration_s
        if self._deadline is None and limit_s is not None and not self._kind.poll:
            self._deadline = time.time() + limit_s
        return WriterSettings(
            pointer=pointer,
            splits=splits,
            producer_configs=self._producer_configs(work, splits),
            consumer_config=self._consumer_config,
            admin_config=settings.clients.admin(),
            constant_topic=frame.constant_topic,
            topic_creation=settings.topic_creation,
            internal_topics=internal_topics_of(settings.worker).and_(settings.offset_topic),
            chunk_ms=0 if self._kind.own_transactions else settings.chunk_ms,
            deadline_epoch_s=self._deadline,
            poll=self._kind.poll,
            commits_at_offsets=self._kind.commits_at_offsets,
            own_transactions=self._kind.own_transactions,
            progress=monitor.address,
            known_keys=_known_keys(work.view),
            errors=settings.errors,
            tells_ranges=settings.replay is not None,
        )

    def _producer_configs(self, work: Work, splits: tuple[int, ...]) -> dict[int, dict[str, Any]]:
        """For each split. One that cannot commit in parts has the longest transaction that the broker allows."""
        clients, own = self._settings.clients, self._kind.indivisible(work, splits)
        # A replay says where its records are.
        reports = {} if self._settings.replay is None else {"delivery.report.only.error": False}
        if not self._settings.exactly_once:
            return {k: clients.producer(None) | reports for k in splits}
        longest = {"transaction.timeout.ms": self._admin.longest_transaction_ms()} if own else {}
        ids = {k: self._settings.task_id(k) for k in splits}
        return {k: (longest if k in own else {}) | clients.producer(ids[k]) | reports for k in splits}


def collect_reports(rows: DataFrame, settings: WriterSettings) -> list[SplitReport]:
    """Write all splits in a Spark job; returns their reports.

    :raises RetriableError: a task died (a lost executor, a killed worker) more often than Spark retries.
    """
    reported = with_reports(rows, split_writer(settings))
    return [SplitReport(**json.loads(row.report)) for row in run_job(reported)]


def _raise_first(reports: Iterable[SplitReport]) -> None:
    """:raises ConnectError: the error of a split."""
    failed = [unpack_error(report.error) for report in reports if report.error]
    if failed:
        raise _first_cause(failed)


def _first_cause(errors: list[ConnectError]) -> ConnectError:
    """A bad record explains more than the errors it caused elsewhere, and fencing more than a timeout.

    A fenced run reported as retriable would be retried and fence its successor.
    """
    return min(errors, key=lambda error: (error.exit_code > 1, not isinstance(error, FencedError), error.exit_code))


def _known_keys(view: OffsetView) -> Mapping[str, bytes]:
    """The keys under which the topic already has this connector's offsets."""
    return {partition_identity(partition): view.offset_keys(partition)[0] for partition, _ in view.committed()}
