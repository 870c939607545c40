"""A common interface for the two kinds of source connector: Spark-native ones plan splits, poll ones have tasks."""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.connector.source import (
    NativeSourceConnector,
    PlanContext,
    PollSourceConnector,
    SourceConnector,
    Tidied,
)
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.frame import BatchFrame, RecordFrame
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.runtime.conversion.encoding import converter_of
from airflow_kconnect.runtime.conversion.header_stage import HeaderStage
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.retries import Retries
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.source.poll import PollSettings, new_shapes, poll_frame, polled
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.without_jvm import on_spark
from airflow_kconnect.runtime.source.work import NewOffset, Work
from airflow_kconnect.stores.offset_topic.records import SHAPES, PlanRecord
from airflow_kconnect.stores.offset_topic.view import OffsetView

# Each split has a transactional id, a progress marker and an entry in the plan record, which Kafka accepts up to 1 MB.
SPLITS_PER_PLAN = 1000
# Below that Java's optimising compiler costs more than it brings: docs/decisions/0038.
_SHORT_BYTES = 8 * 1024 * 1024
_SMALL_BYTES, _SMALL_AT_ONCE = 65_536, 4


class SourceKind(ABC):
    """What `SourceRun` needs from a connector. Its methods are called in this order, within a ``with`` block."""

    poll: bool
    commits_at_offsets = False
    """See `PollSourceConnector.commits_at_offsets`."""
    own_transactions = False
    """Whether tasks say where transactions end: then they do not end by time."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """The run is over, or has failed."""

    @abstractmethod
    def plan(self, view: OffsetView) -> Work:
        """Plan from the committed offsets. Called again if the previous plan was as large as plans can be."""

    @abstractmethod
    def resume(self, view: OffsetView, old: PlanRecord) -> Work | None:
        """Resume an unfinished plan; None if the offsets alone say where to resume."""

    @abstractmethod
    def batches(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> BatchFrame | None:
        """The records of the splits, made in Python; None: Spark has to make them.

        :param max_duration_s: for how long Python tasks may poll.
        """

    @abstractmethod
    def frame(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> RecordFrame:
        """The same as rows of Spark; partition n holds ``splits[n]``."""

    def is_short(self, work: Work, splits: tuple[int, ...]) -> bool:
        """Whether the splits are known to have little to move. Asked before Spark starts."""
        return False

    def at_once(self, work: Work, splits: tuple[int, ...], cores: int) -> int:
        """How many splits processes of the job should move at once."""
        return cores

    def indivisible(self, work: Work, splits: tuple[int, ...]) -> frozenset[int]:
        """The splits that are a single transaction from start to end."""
        return frozenset()

    @abstractmethod
    def offsets(self, work: Work, reports: list[SplitReport]) -> list[NewOffset]:
        """The source offsets that apply after the run."""

    def learned(self, reports: list[SplitReport]) -> dict[str, Any] | None:
        """What is to be known of shapes from now on, if tasks have ended because they had found new ones."""
        return None

    def tidy(self, offsets: list[NewOffset]) -> Tidied | None:
        """Archive or remove what was read. :param offsets: those that were committed."""
        return None


def kind_of(settings: RunSettings, connector: SourceConnector, session: LazySession) -> SourceKind:
    """The kind of a connector."""
    if isinstance(connector, PollSourceConnector):
        return PollKind(settings, connector, session)
    assert isinstance(connector, NativeSourceConnector)
    return NativeKind(settings, connector, session)


class NativeKind(SourceKind):
    """Spark-native: the driver plans splits, and commits the offsets when all are done."""

    poll = False

    def __init__(self, settings: RunSettings, connector: NativeSourceConnector, session: LazySession) -> None:
        self._settings, self._connector, self._session = settings, connector, session

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if isinstance(error, RetriableError) and (known := self._connector.explained(str(error))) is not None:
                raise known from error
        finally:
            self._connector.finished()

    def plan(self, view: OffsetView) -> Work:
        settings = self._settings
        # A run that may be stopped by time must be able to express how far it got as one plain offset.
        splits_max = settings.splits_max if settings.max_duration_ms is None else 1
        context = PlanContext(
            offsets=view.offsets,
            facts=view.facts,
            max_records=settings.max_records,
            splits_max=splits_max,
            # A replay has no offsets from which a second plan could start.
            plan_splits=None if settings.replay else SPLITS_PER_PLAN,
            parallelism=self._session.parallelism,
            spark=lambda: self._session.spark,
            replay=settings.replay,
        )
        plan = self._connector.plan(context)
        record = PlanRecord(uuid.uuid4().hex, settings.run_id, len(plan.splits), plan.splits)
        full = plan.full or (context.plan_splits is not None and len(plan.splits) >= context.plan_splits)
        # A run with a record limit ends with its plan.
        cut = bool(plan.notes.get("more")) and full and settings.max_records is None
        return Work(record, view, cut=cut, notes=plan.notes)

    def resume(self, view: OffsetView, old: PlanRecord) -> Work | None:
        if not old.splits:
            return None
        work = Work(old, view, resumed=True)
        if not work.begun and self._settings.replay is None:
            return None  # nothing of it is committed: a new plan follows the current source and configuration
        given_up = self._connector.recheck([(k, old.splits[k]) for k in work.to_do])
        return replace(work, given_up=frozenset(given_up))

    def batches(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> BatchFrame | None:
        return self._connector.batches([(k, work.plan.splits[k], work.resume_point(k)) for k in splits])

    def frame(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> RecordFrame:
        batches = self.batches(work, splits, max_duration_s)
        if batches is not None:
            return on_spark(self._session.spark, batches, len(splits))
        to_do = [(k, work.plan.splits[k], work.resume_point(k)) for k in splits]
        return self._connector.read(self._session.spark, to_do)

    def is_short(self, work: Work, splits: tuple[int, ...]) -> bool:
        return self._bytes(work, splits, unknown=_SHORT_BYTES) < _SHORT_BYTES

    def at_once(self, work: Work, splits: tuple[int, ...], cores: int) -> int:
        """A small split is a transaction that waits for the broker most of its time."""
        are_small = self._bytes(work, splits, unknown=_SMALL_BYTES) < _SMALL_BYTES * len(splits)
        return cores * _SMALL_AT_ONCE if are_small else cores

    def _bytes(self, work: Work, splits: tuple[int, ...], *, unknown: int) -> int:
        sizes = [self._connector.size(work.plan.splits[k]) for k in splits]
        return sum(unknown if size is None else size for size in sizes)

    def indivisible(self, work: Work, splits: tuple[int, ...]) -> frozenset[int]:
        return frozenset(k for k in splits if not self._connector.resumable(work.plan.splits[k]))

    def offsets(self, work: Work, reports: list[SplitReport]) -> list[NewOffset]:
        """For each source partition the end of its last split, or the point before it where the run was stopped."""
        splits = list(enumerate(work.plan.splits))
        newest: dict[str, NewOffset] = {}
        bad: Counter[str] = Counter()
        stopped = {partition_identity(split.source_partition) for k, split in splits if k in work.given_up}
        for k, split in splits:
            identity = partition_identity(split.source_partition)
            resume_point, done = work.reached(k, reports)
            if identity not in stopped and resume_point is not None:
                offset = self._connector.offset(split, resume_point)
                bad[identity] += work.bad(k, reports)
                if offset is not None and bad[identity]:
                    offset = self._connector.with_bad_records(offset, bad[identity])
                newest[identity] = NewOffset(split.source_partition, offset, self._connector.facts(split))
            if not done:
                stopped.add(identity)
        return list(newest.values())

    def tidy(self, offsets: list[NewOffset]) -> Tidied | None:
        return self._connector.tidy([(new.partition, new.offset) for new in offsets if new.offset is not None])


class PollKind(SourceKind):
    """Python tasks, which commit their offsets with their records; a plan only says how many ids are in use."""

    poll = True

    def __init__(self, settings: RunSettings, connector: PollSourceConnector, session: LazySession) -> None:
        self._settings, self._connector, self._session = settings, connector, session
        boundary = str(settings.config.common.get("transaction.boundary")).lower()
        self.own_transactions = boundary == "connector" and settings.exactly_once
        self.commits_at_offsets = self.own_transactions or connector.commits_at_offsets()
        self._known: list[dict[str, Any]] = []
        self._planned: list[dict[str, str]] = []
        self._read, self._began_s = 0, time.monotonic()

    def plan(self, view: OffsetView) -> Work:
        """Planned again after `learned`: then the bounds of the run are those of what is left."""
        self._known = [view.facts[SHAPES]] if SHAPES in view.facts else []
        self._connector.learn(self._known)
        self._planned = self._configs()
        return Work(PlanRecord(uuid.uuid4().hex, self._settings.run_id, len(self._planned)), view)

    def resume(self, view: OffsetView, old: PlanRecord) -> Work | None:
        return None

    def _configs(self) -> list[dict[str, str]]:
        """:raises ConfigError: more tasks than ``tasks.max`` (KIP-1004)."""
        tasks_max = self._settings.tasks_max
        configs = self._connector.task_configs(tasks_max)
        if len(configs) > tasks_max:
            text = (
                f"The connector {self._settings.name} has generated {len(configs)} tasks, which is greater than"
                f" {tasks_max}, the maximum number of tasks it is configured to create"
            )
            raise ConfigError({"tasks.max": [text]}, self._settings.name)
        return configs

    def batches(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> BatchFrame:
        return polled(self._polling(work, max_duration_s))

    def indivisible(self, work: Work, splits: tuple[int, ...]) -> frozenset[int]:
        return frozenset(splits) if self.commits_at_offsets else frozenset()

    def frame(self, work: Work, splits: tuple[int, ...], max_duration_s: float | None) -> RecordFrame:
        return poll_frame(self._session.spark, self._polling(work, max_duration_s))

    def _polling(self, work: Work, max_duration_s: float | None) -> PollSettings:
        configs, max_records = self._planned, self._settings.max_records
        count = len(configs)
        left = None if max_records is None else max(0, max_records - self._read)
        if max_duration_s is not None and self._read:
            max_duration_s = max(0.0, max_duration_s - (time.monotonic() - self._began_s))
        return PollSettings(
            task_class=self._connector.task_class(),
            configs=tuple(configs),
            offsets=work.view.offsets,
            shapes=self._connector.shapes(),
            headers=HeaderStage.of(converter_of(self._settings, "header")),
            max_records=tuple(share_of(left, count, n) for n in range(count)),
            max_duration_s=max_duration_s,
            plan_id=work.plan.plan_id,
            at_offsets=self.commits_at_offsets,
            stop_timeout_s=int(self._settings.worker.get("task.shutdown.graceful.timeout.ms")) / 1000,
            retries=Retries.of(self._settings.config.common),
            transactions=self.own_transactions,
        )

    def offsets(self, work: Work, reports: list[SplitReport]) -> list[NewOffset]:
        self._read += sum(report.read for report in reports)
        return [NewOffset(partition, offset) for report in reports for partition, offset in report.offsets]

    def learned(self, reports: list[SplitReport]) -> dict[str, Any] | None:
        """:raises DataError: they are those that were known: the next task would find them, too."""
        found = [facts for report in reports if (facts := new_shapes(report.bound)) is not None]
        if not found:
            return None
        known = self._connector.learn([*self._known, *found])
        if [known] == self._known:
            text = "a task has found records with shapes that it was told of already, so it would never get past them"
            raise DataError(f"connector {self._settings.name}: {text}: an error of the connector")
        return known


def share_of(max_records: int | None, count: int, n: int) -> int | None:
    """How many records task n may deliver: at least one, else it would never get on."""
    return None if max_records is None else max(1, max_records // count + (n < max_records % count))
