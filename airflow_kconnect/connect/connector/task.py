"""The contract of Python tasks: `SourceTask.poll` and `SinkTask.put`, as in ``connect-api``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from airflow_kconnect.connect.errors import ConnectError, DataError, named
from airflow_kconnect.connect.record import SinkRecord, SourceRecord, TopicPartition
from airflow_kconnect.java_text.json import partition_identity

SourceOffset = dict[str, Any]


class TransactionContext:
    """Says where the transactions of a source task end, if ``transaction.boundary`` is ``connector``: as
    ``TransactionContext`` of Connect. Called in `SourceTask.poll`, or before it.
    """

    def __init__(self) -> None:
        self._batch: set[bool] = set()
        self._records: dict[int, tuple[SourceRecord, set[bool]]] = {}

    def commit_transaction(self, record: SourceRecord | None = None) -> None:
        """Commit after this record; None: after all records that the next `poll` to return returns. It may return
        none, or have caught up: then the transaction ends with those before.
        """
        self._ends_of(record).add(True)

    def abort_transaction(self, record: SourceRecord | None = None) -> None:
        """The same, but no reader sees the records of the transaction: only their offsets are committed."""
        self._ends_of(record).add(False)

    def _ends_of(self, record: SourceRecord | None) -> set[bool]:
        return self._batch if record is None else self._records.setdefault(id(record), (record, set()))[1]

    def taken(self, record: SourceRecord | None = None) -> bool | None:
        """Whether to commit after the record, or after the batch; None: no transaction ends there. Called by the run,
        once for each.

        :raises DataError: the task wants both.
        """
        if record is None:
            ends, self._batch = self._batch, set()
        else:
            _, ends = self._records.pop(id(record), (record, set()))
        if len(ends) > 1:
            where = "batch" if record is None else f"record of source partition {record.source_partition}"
            raise DataError(
                f"a task has asked to commit and to abort the transaction at the same {where}: decide for one"
            )
        return next(iter(ends), None)


@dataclass(frozen=True)
class SourceTaskContext:
    """What a source task can query from its run.

    :param configs: the task's configuration.
    :param committed: source partition (`partition_identity`) -> committed offset. Read after fencing: it is final.
    :param transaction_context: None unless the task is to say where transactions end, as in Connect.
    """

    configs: Mapping[str, str]
    committed: Mapping[str, SourceOffset] = field(default_factory=dict)
    transaction_context: TransactionContext | None = None

    def offset(self, source_partition: Mapping[str, Any]) -> SourceOffset | None:
        """The committed offset of a source partition, or None if nothing was ever committed for it."""
        return self.committed.get(partition_identity(source_partition))

    def offsets(self, source_partitions: Iterable[Mapping[str, Any]]) -> list[SourceOffset | None]:
        """The same for several of them, in their order."""
        return [self.offset(partition) for partition in source_partitions]


class NewShapes(Exception):
    """Raised by `SourceTask.poll` in place of records that have none of the declared shapes.

    What was polled before is committed; where transactions end at offsets only, up to the last record that has one:
    what came after it is dropped. Then, in the same run, `PollSourceConnector.learn` is called, and a new task resumes
    from the offsets.

    :param facts: what the connector has to know to declare them: a flat map that JSON can hold.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__("records have shapes that the connector did not declare")
        self.facts = dict(facts)


class SourceTask(ABC):
    """Reads from a source in one Spark partition. A new object is created for each run of each task."""

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Called first, once. The offsets in the context are those to resume from."""
        self.context = context

    @abstractmethod
    def start(self, props: Mapping[str, str]) -> None:
        """Called once before the first `poll`. Open what you need. An error fails the run; nothing is committed."""

    @abstractmethod
    def poll(self) -> Sequence[SourceRecord] | None:
        """Called in a loop. Return the next records, an empty sequence if there are none *yet*, or None when the task
        has caught up with its source: then it is not polled again in this run. It may block for a second or so.

        :raises NewShapes: the next records have shapes that the connector did not declare.

        Records become visible to readers with the transaction that contains them, together with their offsets. An error
        fails the run; what was committed before stays, the rest is polled again by the next run.
        """

    def commit_record(self, record: SourceRecord) -> None:
        """Called for each record, in order, after its transaction was committed.

        Not called again for the same record. A run that is killed between the commit and this call never makes it.
        """

    def commit(self) -> None:
        """Called after offsets were committed, following the `commit_record` calls of that transaction."""

    def stop(self) -> None:
        """Called last, even after an error: after the final `commit`, at most
        ``task.shutdown.graceful.timeout.ms`` after the last `poll`."""


class ErrantRecordReporter(Protocol):
    """Accepts records that a sink task cannot write (KIP-610)."""

    def report(self, record: SinkRecord, error: Exception) -> None:
        """Skip a record of the current `SinkTask.put`: it is logged and becomes a dead letter, as configured.

        :raises DataError: ``errors.tolerance`` is ``none``; it ends the run, even if the task catches it.
        """


@dataclass
class SinkRequests:
    """What a sink task has asked for by its context. The run looks at it between two calls of the task.

    :param paused: partitions of which it takes no more records.
    :param timeout_ms: when it wants to be called again; 0: it does not say.
    :param offsets: where it wants to be put records from.
    :param commit: whether `SinkTask.pre_commit` should be called before its time.
    :param failure: why the run must end, although the task may have caught this error.
    """

    paused: set[TopicPartition] = field(default_factory=set)
    timeout_ms: int = 0
    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    commit: bool = False
    failure: DataError | None = None


@dataclass(frozen=True)
class SinkTaskContext:
    """What a sink task can query from its run, and ask of it: as ``SinkTaskContext`` of Connect.

    What it asks for is done after the call of the task has returned.

    :param errant_record_reporter: None unless errors are logged or there is a dead-letter topic, as in Connect;
        `report` does without it, too.
    :param requests: what the task has asked for; it is the run that reads it.
    """

    configs: Mapping[str, str]
    assignment: tuple[TopicPartition, ...] = ()
    errant_record_reporter: ErrantRecordReporter | None = None
    requests: SinkRequests = field(default_factory=SinkRequests, repr=False, compare=False)

    def report(self, record: SinkRecord, error: Exception) -> None:
        """Set aside a record of the current `SinkTask.put` that cannot be written, see `ErrantRecordReporter.report`.

        :raises DataError: ``errors.tolerance`` is ``none``, or there is no reporter: it ends the run, even if the task
            catches it, and names the record.
        """
        if self.errant_record_reporter is None:
            text = str(error) if isinstance(error, ConnectError) else named(error)
            cure = "`errors.tolerance` all with `errors.deadletterqueue.topic.name` sets such records aside"
            place = f"{record.read_topic}-{record.partition}@{record.kafka_offset}"
            self.requests.failure = DataError(f"bad record at {place}: {text}. {cure}")
            raise self.requests.failure from error
        self.errant_record_reporter.report(record, error)

    def pause(self, *partitions: TopicPartition) -> None:
        """Take no more records of these partitions until `resume`. Meanwhile `put` is called with none: when `timeout`
        says so, else each ``offset.flush.interval.ms``.

        A run does not wait forever. If no record is put for five minutes, or the run's time is over, the split ends;
        what was not put is for the next run.

        :raises DataError: the task does not have one of them.
        """
        self.requests.paused.update(self._assigned("pause", partitions))

    def resume(self, *partitions: TopicPartition) -> None:
        """Take records again. May be called by any thread. :raises DataError: as `pause`."""
        self.requests.paused.difference_update(self._assigned("resume", partitions))

    def timeout(self, timeout_ms: int) -> None:
        """When to call `put` again if it has raised `RetriableError`, then with the same records; or while it takes no
        records, then with none. Applies to the next call only.
        """
        self.requests.timeout_ms = timeout_ms

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Put records from these offsets on next: again, if they were put, or not those before them. In `open` as well,
        for a target that knows what it has.

        An offset before the beginning of the split ends the run as an error; one after its end leaves out what is left.

        :raises DataError: the task does not have one of the partitions.
        """
        self.requests.offsets.update({tp: offsets[tp] for tp in self._assigned("rewind", offsets)})

    def request_commit(self) -> None:
        """Call `SinkTask.pre_commit` before the next `put`. Its offsets are committed when the round ends."""
        self.requests.commit = True

    def _assigned(self, what: str, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        wanted = list(partitions)
        for partition in wanted:
            if partition not in self.assignment:
                has = ", ".join(map(str, self.assignment)) or "none"
                raise DataError(f"a sink task can only {what} partitions that it has, not {partition}: it has {has}")
        return wanted


class SinkTask(ABC):
    """Writes one topic-partition's records in a run. A new object is created for each split."""

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Called first, once."""
        self.context = context

    @abstractmethod
    def start(self, props: Mapping[str, str]) -> None:
        """Called once before `open`. An error fails the run; no offset is committed."""

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        """Called once after `start` with the partitions whose records will be put."""

    @abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Called with consecutive records of a partition, in offset order; with none while the task has paused.

        Raise `RetriableError` when the target is unavailable. If the context's `timeout` was called, the same records,
        or none again, are put after it, for five minutes at most. Else the run ends with exit code 3, no offset of this
        round is committed, and the next run puts its records again. Any other error fails the run in the same way.
        """

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Called between two `put` calls every ``offset.flush.interval.ms`` (60 s), and after the last one of a split.

        When it returns, the records below `offsets` must be safely stored.
        """

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Called instead of `flush` by tasks that override it: returns the offsets that are safe to commit.

        The run commits what the last call of a split returns, when the round ends. Never less than was committed.
        """
        self.flush(offsets)
        return offsets

    def close(self, partitions: Sequence[TopicPartition]) -> None:
        """Called after the last `pre_commit`, even after an error."""

    def stop(self) -> None:
        """Called last, even after an error."""
