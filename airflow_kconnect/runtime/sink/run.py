"""A sink run: rounds of bounded ranges from the group's offsets to the read_committed end (docs/architecture.md)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest
from typing import Any

from airflow_kconnect.connect.connector.sink import BatchRenderer, SinkConnector, SinkSplit
from airflow_kconnect.connect.error_cells import unpack_error
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runs.end import Left, lag_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.process import split_processes
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.phases import SINK_PHASES, PhaseTimer
from airflow_kconnect.runtime.process.progress import ProgressMonitor
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink.jobs import SinkJobs
from airflow_kconnect.runtime.sink.kinds import kind_of
from airflow_kconnect.runtime.sink.plan import ROUND_RECORDS, OffsetRange, bounded, cut
from airflow_kconnect.runtime.sink.ranges import SinkRanges, group_of
from airflow_kconnect.runtime.sink.writer import SinkReport, samples_of, uncounted
from airflow_kconnect.runtime.spark_jobs import run_job
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.stores.topics import ensure_dead_letter_topic

log = logging.getLogger("kconnect.sink")

# The report names at most this many topic-partitions with what open transactions hold back.
_SHOWN = 20
# Below that Java's optimising compiler costs more than it brings: docs/decisions/0038.
_SHORT_RECORDS = 20_000


class SinkRun:
    """One run of a sink connector. Whatever it raises, offsets are committed only for what is safely written."""

    def __init__(
        self, settings: RunSettings, connector: SinkConnector, session: LazySession, *, dead_letters: bool = False
    ) -> None:
        self._settings, self._connector, self._session = settings, connector, session
        self._admin = GroupAdmin(settings.clients.admin())
        self._group = group_of(settings, dead_letters=dead_letters)
        self._kind = kind_of(settings, connector)
        self._positions = SinkPositions(
            settings.clients,
            settings.worker,
            self._admin,
            self._group,
            kept=settings.replay is None,
            stored_in=self._kind.offsets_stored_in,
        )
        self._ranges = SinkRanges(
            settings, self._kind, self._admin, self._positions, self._group, dead_letters=dead_letters
        )
        consumer_config = settings.clients.consumer(self._group, bulk=True)
        self._jobs = SinkJobs(settings, self._kind, consumer_config, dead_letters=dead_letters)
        self._began: dict[TopicPartition, int] = {}  # of all partitions
        self._reached: dict[TopicPartition, int] = {}
        self._phases = PhaseTimer(SINK_PHASES, settings.name)
        self._why_again = ""
        self._round_records = ROUND_RECORDS
        self._rounds = self._splits = 0
        self._counts = {"read": 0, "written": 0, "filtered": 0, "dead_lettered": 0}
        self._learned = self._paused = False
        self._warnings: list[str] = []
        self._connector_warnings: list[str] = []
        self._notes: dict[str, Any] = {}
        self._incomplete: list[Left] = []

    def run(self) -> RunReport:
        """The steps of a run.

        1 acquire the driver's transactional id: an older run of this connector can no longer commit anything
        2 only then read the sink's positions, and the read_committed ends
        3 store these positions in a target that keeps offsets, then commit them for all partitions: a run that was
          fenced since step 1 ends here
        4 have the connector remove what killed runs left behind
        5 rounds: read, decode, write; see `_round`
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        self._ranges.check_group()
        if self._settings.dry_run:
            return self._dry_run()
        producer = TransactionalProducer(
            self._settings.clients.producer(self._settings.driver_id), f"driver of connector {self._settings.name}"
        )  # 1
        try:
            self._phases.enter("planning")
            self._positions.ensure_topic()
            ensure_dead_letter_topic(self._admin, self._settings.errors.topic, self._settings.config.props)
            self._before_planning(producer)
            ranges = self._ranges.find()  # 2
            self._jobs.own_topics = self._ranges.own_topics
            failpoint("after-reading-offsets")
            self._began = {range_.topic_partition: range_.start for range_ in ranges}
            self._reached = dict(self._began)
            self._kind.store_start(self._began)  # 3
            if warning := self._positions.settle(producer, self._reached):
                self._warnings.append(warning)
            self._session.short = sum(range_.size for range_ in ranges) < _SHORT_RECORDS
            self._kind.prepare(dict(self._reached))  # 4
            left = self._in_rounds(producer, ranges)  # 5
            return self._report(ranges, left)
        finally:
            producer.close()

    def _before_planning(self, producer: TransactionalProducer) -> None:
        """Called when older runs can no longer commit, before positions are read."""

    @property
    def topics_read(self) -> list[str]:
        """The topics of which the run has read records."""
        return sorted({tp.topic for tp, offset in self._reached.items() if offset > self._began[tp]})

    def _in_rounds(self, producer: TransactionalProducer, ranges: list[OffsetRange]) -> list[OffsetRange]:
        """Move everything, one round at a time; returns what a limit left over."""
        settings = self._settings
        budget = settings.max_records
        duration_s = None if settings.max_duration_ms is None else settings.max_duration_ms / 1000
        deadline = None if duration_s is None else time.monotonic() + duration_s
        self._kind.deadline_epoch_s = None if duration_s is None else time.time() + duration_s
        left = [range_ for range_ in ranges if range_.size > 0]
        held_back: list[OffsetRange] = []  # by a task that has paused or not committed: the next run puts them again
        while left and budget != 0 and (deadline is None or time.monotonic() < deadline):
            size = self._round_records if budget is None else min(self._round_records, budget)
            taken = self._taken(left, size)
            cores = self._session.parallelism()
            splits = cut(taken, ordered=self._kind.ordered, splits_max=settings.splits_max, parallelism=cores)
            done = self._round(producer, splits)
            moved = sum(done.get(range_.topic_partition, range_.start) - range_.start for range_ in taken)
            budget = None if budget is None else max(budget - moved, 0)
            held_back += [r for r in _advanced(taken, done) if r.size > 0 and not self._learned]
            topic_partitions = {range_.topic_partition for range_ in held_back}
            left = [r for r in _advanced(left, done) if r.size > 0 and r.topic_partition not in topic_partitions]
        if left:
            self._incomplete.append(Left.MAX_RECORDS if budget == 0 else Left.MAX_DURATION)
        if held_back:
            self._incomplete.append(Left.PAUSED if self._paused else Left.NOT_COMMITTED)
        return left + held_back

    def _taken(self, left: list[OffsetRange], size: int) -> list[OffsetRange]:
        """What the next round moves."""
        return bounded(left, size)

    def _round(self, producer: TransactionalProducer, splits: list[SinkSplit]) -> dict[TopicPartition, int]:
        """Write the splits and commit; returns the new offset of each partition.

        1 the splits are written where no reader sees them; the connector looks at what older runs have left
        2 commit the round's start: this changes nothing, but a fenced run ends here
        3 make what was written visible
        4 commit the round's end

        A single transaction from 2 to 4 would be equivalent, but it times out while a large file is appended to.
        """
        if self._rounds:
            self._phases.again(self._why_again)
        else:
            self._look_at_samples(splits)
        reports = self._write(splits)  # 1
        accepted, reached = contiguous(splits, reports)
        self._rounds, self._splits = self._rounds + 1, self._splits + len(splits)
        self._phases.enter("committing offsets")
        failpoint("after-last-write")
        if self._kind.commits:
            self._kind.before_visible()
            self._positions.commit(producer, self._reached)  # 2
            failpoint("before-visible")
            self._make_visible(accepted)  # 3
        failpoint("after-visible")
        self._reached |= reached
        self._positions.commit(producer, self._reached)  # 4
        failpoint("after-final-commit")
        self._count(accepted)
        self._raise_or_learn(reports)
        return reached

    def _count(self, accepted: Iterable[tuple[SinkSplit, SinkReport]], *, only_bad: bool = False) -> None:
        for _, report in accepted:
            if not only_bad:
                self._counts["written"] += report.written
                self._counts["filtered"] += report.filtered
            self._counts["dead_lettered"] += report.dead_lettered

    def _look_at_samples(self, splits: list[SinkSplit]) -> None:
        self._phases.enter("looking at samples")
        self._jobs.look_at_samples(splits, self._group)

    def _write(self, splits: list[SinkSplit]) -> list[SinkReport]:
        """Write the splits in processes of this job if Catalyst has nothing to do, else by a Spark job."""
        renderer = self._jobs.renderer()
        processes = split_processes.of_this_job()
        if renderer is not None and processes is not None:
            with self._monitor("127.0.0.1", splits) as monitor:
                move = self._jobs.plain_move(renderer, splits, monitor.address)
                self._phases.enter("moving records")
                found = processes.run(move, len(splits), self._session.parallelism())
        else:
            found = self._by_spark(renderer, splits)
        return sorted((SinkReport(**facts) for facts in found), key=lambda report: report.index)

    def _by_spark(
        self, renderer: BatchRenderer | None, splits: list[SinkSplit], *, reporting: bool = True
    ) -> list[dict[str, Any]]:
        self._session.start(self._phases)
        self._phases.enter("preparing the Spark job")
        spark = self._session.spark
        with self._monitor(self._session.driver_host, splits) as monitor:
            job, delivered = self._jobs.job(spark, renderer, splits, monitor.address, reporting=reporting)
            self._phases.enter("moving records")
            found = [json.loads(row.report) for row in run_job(job)]
        if delivered is not None:
            self._reconcile(found, delivered())
        return found

    def _monitor(self, host: str, splits: list[SinkSplit]) -> ProgressMonitor:
        return ProgressMonitor(host, len(splits), sum(split.end - split.start for split in splits))

    def _reconcile(self, reports: list[dict[str, Any]], delivered: int) -> None:
        """Everything read must have arrived, or the run fails before the offsets are committed.

        After the row that ends a split, rows are read but ignored; such a round is not the last one.

        :raises InternalError: records are missing.
        """
        arrived = sum(report["seen"] for report in reports)
        early = any(report["stopped"] or report["error"] for report in reports)
        if arrived != delivered and not (early and arrived < delivered):
            raise uncounted(f"connector {self._settings.name}", delivered, arrived)

    def _make_visible(self, accepted: list[tuple[SinkSplit, SinkReport]]) -> None:
        results = [(split, report.result) for split, report in accepted if report.result is not None]
        self._take_note(self._kind.make_visible(results), self._kind.warnings())

    def _take_note(self, facts: Mapping[str, Any], warnings: list[str]) -> None:
        for name, fact in facts.items():
            self._notes[name] = self._notes.get(name, 0) + fact if isinstance(fact, int) else fact
        for warning in (text for text in warnings if text not in self._connector_warnings):
            log.warning("%s", warning)
        self._connector_warnings = warnings

    def _raise_or_learn(self, reports: list[SinkReport]) -> None:
        """Raise what failed; the next round learns from records of unknown shapes."""
        errors = [unpack_error(report.error) for report in reports if report.error]
        if errors:
            raise min(errors, key=lambda error: error.exit_code)
        in_turn = chain.from_iterable(zip_longest(*map(samples_of, reports)))
        samples = list(dict.fromkeys(sample for sample in in_turn if sample is not None))
        needs_spark, large = any(report.needs_spark for report in reports), any(report.large for report in reports)
        self._paused = self._paused or any(report.paused for report in reports)
        learned = self._jobs.learn(samples, needs_spark=needs_spark, large=large)
        self._learned = learned or any(report.again for report in reports)
        self._why_again = _why_again(new_shape=bool(samples), needs_spark=needs_spark, large=large)

    def _dry_run(self) -> RunReport:
        """Plan, and report the plan; fences no run and creates nothing."""
        self._phases.enter("planning")
        ranges = self._ranges.find()
        self._notes = {"dry_run": True, "would_read_offsets": sum(range_.size for range_ in ranges)}
        self._incomplete = [Left.DRY_RUN] if any(range_.size for range_ in ranges) else []
        return self._report(ranges, ranges)

    def _report(self, ranges: list[OffsetRange], left: list[OffsetRange]) -> RunReport:
        remaining = {range_.topic_partition: range_.start for range_ in left}
        reached = {range_.topic_partition: remaining.get(range_.topic_partition, range_.end) for range_ in ranges}
        lag, lag_max = self._lag(reached)
        settings = self._settings
        return RunReport(
            connector=settings.name,
            kind="sink",
            connector_class=settings.config.connector_class,
            run_id=settings.run_id,
            guarantee="exactly_once" if self._kind.exactly_once else "at_least_once",
            records=self._counts | {"read": sum(self._counts.values())},
            topics=sorted({range_.topic_partition.topic for range_ in ranges}),
            offsets=[
                {"topic": tp.topic, "partition": tp.partition, "offset": offset} for tp, offset in reached.items()
            ],
            splits=self._splits,
            incomplete=[*self._incomplete],
            notes={**self._notes, "rounds": self._rounds} if self._rounds else self._notes,
            warnings=[*settings.config.warnings, *self._ranges.warnings, *self._warnings, *self._connector_warnings],
            durations_s=self._phases.durations(),
            replay=str(settings.replay) if settings.replay else None,
            lag=lag,
            lag_max=lag_max,
        )

    def _lag(self, reached: Mapping[TopicPartition, int]) -> tuple[dict[str, int], int | None]:
        """What is left to read, including open transactions, as Kafka's tools count it; a replay has no lag."""
        if self._settings.replay:
            return {}, None
        try:
            bounds = self._admin.bounds(reached)
        except ConnectError as error:  # everything is committed: this must not fail the run
            self._warnings.append(RunWarning(Kind.UNKNOWN, f"the lag is not known: {error}"))
            return {}, None
        blocked = {str(p): b.log_end - b.end for p, b in bounds.items() if b.log_end > b.end}
        if blocked:
            self._notes["blocked"] = dict(sorted(blocked.items())[:_SHOWN])
        return lag_of(reached, {tp: b.log_end for tp, b in bounds.items()})


def _advanced(ranges: list[OffsetRange], reached: Mapping[TopicPartition, int]) -> list[OffsetRange]:
    return [
        OffsetRange(range_.topic_partition, reached.get(range_.topic_partition, range_.start), range_.end)
        for range_ in ranges
    ]


def contiguous(
    splits: list[SinkSplit], reports: list[SinkReport]
) -> tuple[list[tuple[SinkSplit, SinkReport]], dict[TopicPartition, int]]:
    """The splits that count, and the offset that each partition has reached without a gap.

    A split that ended early (a bad record, an unknown shape, an error) ends its partition: what later splits of it
    wrote is not made visible, and is written again.
    """
    accepted: list[tuple[SinkSplit, SinkReport]] = []
    reached: dict[TopicPartition, int] = {}
    for split, report in sorted(zip(splits, reports, strict=True), key=lambda pair: pair[0].start):
        topic_partition = split.topic_partition
        if reached.setdefault(topic_partition, split.start) == split.start and report.result is not None:
            accepted.append((split, report))
            reached[topic_partition] = report.end
    return accepted, reached


def _why_again(*, new_shape: bool, needs_spark: bool, large: bool) -> str:
    """Why a round is followed by another one, for display."""
    if new_shape:
        return "there are records of a shape that the samples did not have"
    if large:
        return "there are much larger records than the samples"
    return "there are records that need Spark to be read" if needs_spark else "there are more records"
