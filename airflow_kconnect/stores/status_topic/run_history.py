"""A run's entry in the record of its connector's runs, which other runs of the connector write, too."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.errors import ConnectError, first_line, in_one_line
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.stores.status_topic.run_facts import Facts, RunFacts
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, Progress, RunRecord, RunsKey, RunState
from airflow_kconnect.stores.status_topic.writing import StatusWriter
from airflow_kconnect.validation.hidden import HIDDEN

log = logging.getLogger("kconnect")

PROGRESS_S = 15.0
_LOST = "it ended without saying how, as when it is killed"
_ATTEMPTS = 5
# Records of a partition at its end. The last one of a connector is among them unless very many others run.
_FIRST_LOOK = 500
_FURTHER = 4


class RunHistory:
    """Tells how one run goes, by a `StatusWriter`.

    1 The record is looked for from the end of its partition backwards: what there is to read depends on how much was
      written since the connector ran last, not on the size of the topic.
    2 The entry is put into it when the run begins, now and then while it runs, and when it ends. What others have
      written since is read before.
    3 If others have written at the same moment, their entries are put into it, too. A later writer sees the one
      who wrote before, so no entry is lost.

    The record of a connector that is deleted meanwhile stays deleted.

    :param run: the entry as the run begins. :param facts: about its connector. :param hide: replaces secrets in texts.
    :param of_other: the run is that of another process, which can no longer tell: what it has told stays.
    """

    def __init__(
        self,
        writer: StatusWriter,
        name: str,
        run: RunRecord,
        facts: Facts,
        *,
        hide: Callable[[str], str] = str,
        of_other: bool = False,
    ) -> None:
        self._writer, self._name, self._run, self._of_other = writer, name, run, of_other
        self._hide = hide
        self._key = RunsKey(name).encode()
        self._facts = facts
        self._told_s = time.monotonic()
        # Of the thread:
        self._known_facts: RunFacts | None = None
        self._known: ConnectorRuns | None = None
        self._log: CompactedLog | None = None
        self._own_offset = -1
        self._found = self._looked = self._deleted = self._broken = False

    def began(self, facts: Facts) -> None:
        """The run begins. :param facts: about its connector, now that more is known."""
        self._facts, run = facts, self._run
        self._do(lambda: self._begin(run, _FIRST_LOOK))

    def progressed(self, event: Mapping[str, Any]) -> None:
        """The run moves records: see the event ``progress`` of a job. Most events are left out."""
        if (now_s := time.monotonic()) - self._told_s < PROGRESS_S:
            return
        self._told_s = now_s
        progress = Progress(event["records"], event["expected"], event["rate"], now_ms())
        self._run = run = replace(self._run, progress=progress)
        self._do(lambda: self._put(run))

    def ended(self, report: RunReport | None, error: BaseException | str | None = None) -> None:
        """The run has ended.

        :param report: also of a run that has failed, if it got that far. :param error: why it has failed.
        """
        run = self._run if report is None else self._run.with_report(report)
        self._run = ended = run.ended(now_ms(), error=None if error is None else _in_short(error))
        topics = () if report is None else tuple(report.topics)
        self._do(lambda: self._end(ended, topics))

    def dropped(self) -> None:
        """It was not a run: another process is at work."""
        self._do(self._drop)

    def _do(self, what: Callable[[], None]) -> None:
        def do() -> None:
            if self._broken:
                return
            try:
                what()
            except Exception as error:  # statuses are written nevertheless
                self._broken = True
                log.warning("the run was not added to those of connector %s: %s", self._name, first_line(error))

        self._writer.do(do)

    def _begin(self, run: RunRecord, most: int) -> None:
        if self._look(most):
            self._put(run)
        else:  # after what waits to be written
            self._do(lambda: self._begin(run, most * _FURTHER))

    def _look(self, most: int) -> bool:  # 1
        """Look at the last records. Returns whether the record was found, or does not exist."""
        if not self._looked:
            writer, partition = self._writer, self._partition
            begin = writer.admin.begin_offsets(writer.topic, [partition])[partition]
            end = writer.admin.end_offsets(writer.topic, [partition], committed=True)[partition]
            self._reader.positions[partition] = start = max(begin, end - most)
            for theirs in self._read():
                self._known, self._found = theirs, True
            self._looked = self._found or start == begin
        return self._looked

    def _put(self, run: RunRecord, topics: tuple[str, ...] = ()) -> None:  # 2
        run, most = self._cleaned(run), _FIRST_LOOK
        while not self._look(most):
            most *= _FURTHER
        for theirs in self._read():
            self._known, self._deleted = theirs, theirs is None
        if self._deleted or (runs := self._merged(run, topics)) == self._known:
            return
        for _ in range(_ATTEMPTS):
            if not (others := self._written(runs)):
                return
            if others[-1] is None:  # it may have been there before what was written
                self._writer.produce(self._key, None, self._partition)
                self._deleted = True
                return
            for theirs in filter(None, others):  # 3
                self._known = replace(theirs, runs=runs.with_runs(theirs.runs).runs)
                runs = self._merged(run, topics)

    def _end(self, run: RunRecord, topics: tuple[str, ...]) -> None:
        if self._known_facts is not None and HIDDEN in self._known_facts.connector.config.values():
            self._known_facts = None  # a Java class may have been asked meanwhile which of its keys are secrets
        self._put(run, topics)

    def _written(self, runs: ConnectorRuns) -> list[ConnectorRuns | None]:
        """Write the record. Returns those that others have written since the last look."""
        before = self._reader.positions[self._partition]
        self._writer.produce(self._key, runs.encode(), self._partition)
        self._writer.flush()
        written = self._writer.written(self._key)
        assert written is not None
        self._known, self._own_offset = runs, written[1]
        if self._own_offset == before:
            self._reader.positions[self._partition] += 1
            return []
        return self._read()

    def _merged(self, run: RunRecord, topics: tuple[str, ...]) -> ConnectorRuns:
        known = self._known or ConnectorRuns()
        told = known.run(run.id)
        if self._of_other and told is not None:
            if not told.running:
                return known
            run = replace(told, state=run.state, end_ms=run.end_ms, error=run.error, progress=None)
        return merged(known, run, self._asked.connector, topics)

    def _drop(self) -> None:
        self._put(self._run)
        if self._known is not None and not self._deleted:
            self._written(self._known.without_run(self._run.id))

    def _cleaned(self, run: RunRecord) -> RunRecord:
        return self._asked.cleaned(run, self._hide)

    def _read(self) -> list[ConnectorRuns | None]:
        """What others have written about the connector since the last look; None is a tombstone."""
        found: list[ConnectorRuns | None] = []

        def take(record: LogRecord) -> None:
            if record.key == self._key and record.offset != self._own_offset:
                try:
                    found.append(ConnectorRuns.decode(record.value))
                except (ValueError, RecursionError) as error:
                    log.warning("ignoring the runs of connector %s at %s: %s", self._name, record, error)

        self._reader.read([self._partition], take, committed=True)
        return found

    @property
    def _asked(self) -> RunFacts:
        if self._known_facts is None:
            self._known_facts = self._facts()
        return self._known_facts

    @property
    def _partition(self) -> int:
        return partition_of(self._key, self._writer.partitions)

    @property
    def _reader(self) -> CompactedLog:
        if self._log is None:
            self._log = self._writer.reader()
        return self._log


def merged(
    known: ConnectorRuns, run: RunRecord, own: ConnectorRuns, topics: tuple[str, ...], *, fences: bool = True
) -> ConnectorRuns:
    """What is known of a connector, with a run of it.

    :param own: what the run knows of the connector. :param topics: of the run, if it had any.
    :param fences: whether the run has fenced others.
    """
    others = [other for other in known.live if other.id != run.id]
    if fences and run.replay is None and run.state is RunState.SUCCESS:
        # They were fenced, or killed before: a run that is at work would have kept this one from ending well.
        known = known.with_runs(
            replace(other, state=RunState.FAILED, error=_LOST, progress=None)
            for other in others
            if other.running and other.start_ms < run.start_ms
        )
    newest = all(other.start_ms <= run.start_ms for other in others)
    if newest and (run.replay is None or not known.config):
        known = replace(own, kind=own.kind or known.kind, topics=topics or known.topics, runs=known.runs)
    return known.with_runs([run])


def _in_short(error: BaseException | str) -> str:
    """The first line of its text; of several errors the first."""
    text = str(error) if isinstance(error, str | ConnectError) else in_one_line(error)
    first, _, rest = text.strip().partition("\n")
    return f"{first} {first_line(rest)}" if first.endswith(":") and rest.strip() else first_line(first)


def entry_of(spec: RunSpec) -> RunRecord:
    """The entry of a run that begins; its spec names it."""
    return RunRecord(spec.run_id, RunState.RUNNING, now_ms(), replay=spec.replays, origin=dict(spec.origin))


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return int(time.time() * 1000)
