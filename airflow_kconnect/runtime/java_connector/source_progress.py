"""What is known of a hosted source besides its tasks' counts: of Debezium's, snapshot, stream, slot, binary log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.hosted.known.debezium import CaughtUp, Progress, Read, beats, is_debezium, progress, streams
from airflow_kconnect.hosting.keys import IDLE_MS
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.stores.positions.binlog import BinlogAddress, BinlogPosition, read_binlog
from airflow_kconnect.stores.positions.slot import Slot, SlotAddress, check_slot, read_slot, size_text
from airflow_kconnect.stores.positions.slot_goal import SlotGoal
from airflow_kconnect.variables.syntax import has_reference

log = logging.getLogger(__name__)

Offsets = list[dict[str, Any]]
"""Source partitions with their offsets, as in the report."""

_POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
# After a crash the server needs a moment to notice that the reader of a slot is gone.
_RELEASE_S = 15.0
_POLL_S = 0.5
_DRIVER = RunWarning(
    Kind.CONFIGURATION,
    "`lsn.flush.mode` is `connector_and_driver`: the driver may move the slot beyond the connector's offsets, and then "
    "the next run fails as if WAL were missing. To release WAL, use `heartbeat.interval.ms` and "
    "`heartbeat.action.query`.",
)
# Without the log's end, silence is all that there is to go by.
_WITHOUT_END_MS = 15_000
_NO_HEARTBEAT = (
    "Whether the connector has caught up is known by silence only, and without heartbeats its offset moves with "
    "captured changes only: in a part of the log that has none, and is longer than a run reads, each run begins at the "
    "same place. Set `heartbeat.interval.ms`."
)
_STALLED = (
    "The run has ended at the offset at which it began, after {seconds:.0f} s in which nothing was captured. If the "
    "database's log continues, a longer `kconnect.hosted.idle.ms` gets through it."
)
_UNFINISHED = RunWarning(
    Kind.DOUBLED,
    "The run has ended within a snapshot, which cannot be resumed: the next run begins it again. Rows that were moved "
    "are moved again, and a row that is deleted before it is read again stays in copies. Raise `kconnect.max.records` "
    "or `kconnect.max.duration.ms`.",
)


class SourceProgress:
    """Asked by a run from its start to its report. For classes that are not Debezium's it knows nothing.

    :param connector_class: full name. :param props: of the connector, variables resolved.
    :param idle_ms: how long nothing must move before a source has caught up.
    """

    def __init__(self, connector_class: str, props: Mapping[str, str], idle_ms: int) -> None:
        self.is_known = is_debezium(connector_class)
        self.warnings: list[str] = []
        self.notes: dict[str, Any] = {}
        self._props = props
        self._idle_ms = idle_ms if IDLE_MS in props else max(idle_ms, _WITHOUT_END_MS)
        self._ends_unknown = False
        self._began: Offsets = []
        self._slot = SlotAddress.of(props) if connector_class == _POSTGRES and "database.hostname" in props else None
        self._goal: SlotGoal | None = None
        self._binlog = BinlogAddress.of(connector_class, props)
        self._end: BinlogPosition | None = None
        self._caught_up = CaughtUp(
            _now_ms(),
            idle_ms,
            streams=streams(props),
            beats=beats(props),
            is_sent=self._is_sent,
            has_read=self._has_read,
        )

    def check(self, offsets: Callable[[], Offsets]) -> None:
        """Before anything starts: can the connector continue?

        :param offsets: its committed source offsets.
        :raises ConfigError: its slot is gone, has lost WAL, or would be dropped at the end.
        :raises RetriableError: another process reads it.
        """
        if self._binlog is not None:
            self._look_at_binlog(self._binlog)
        if self._slot is not None:
            self._check_slot(self._slot, offsets)
        if self.is_known and streams(self._props) and self._goal is None and self._end is None:
            self._ends_unknown, self._began = True, offsets()
            self._caught_up.without_end(self._idle_ms)

    def _check_slot(self, address: SlotAddress, offsets: Callable[[], Offsets]) -> None:
        if self._props.get("slot.drop.on.stop", "").strip().lower() == "true":
            text = "must not be true: each run ends with a stop, and the changes until the next one would be lost"
            raise ConfigError({"slot.drop.on.stop": [text]}, self._props.get("name"))
        if self._props.get("lsn.flush.mode", "").strip().lower() == "connector_and_driver":
            self.warnings.append(_DRIVER)
            log.warning("%s", _DRIVER)
        if not self._readable(address):
            return
        deadline = time.monotonic() + _RELEASE_S
        while True:
            slot = self._read(address)
            try:
                check_slot(self._props, slot, has_offsets=slot is None and bool(offsets()))
                return
            except RetriableError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_POLL_S)

    def look(self, read: Read) -> bool | None:
        """Whether it has caught up; None: nothing is known, time must tell."""
        return self._caught_up.look(read, _now_ms()) if self.is_known else None

    def text(self, read: Read) -> str | None:
        """For a progress line."""
        found = progress(read, _now_ms()) if self.is_known else None
        return None if found is None else found.text()

    def finish(self, offsets: Callable[[], Offsets]) -> None:
        """After the connector has stopped: notes and warnings for the report.

        :param offsets: its committed source offsets.
        """
        if self._ends_unknown:
            self._tell_of_silence(offsets)
        if self._caught_up.last is not None and self._caught_up.last.snapshot_running:
            self.warnings.append(_UNFINISHED)
            log.warning("%s", _UNFINISHED)
        if self._goal is None or self._slot is None:
            return
        self._goal.close()
        slot = self._read(self._slot)
        if slot is None:
            return
        self.notes["replication_slot"] = slot.facts()
        log.info("Replication slot %s keeps %s of WAL until the next run", slot.name, size_text(slot.kept_bytes or 0))
        if warning := slot.warning():
            self.warnings.append(RunWarning(Kind.SOURCE, warning))

    def _tell_of_silence(self, offsets: Callable[[], Offsets]) -> None:
        texts = [] if beats(self._props) else [_NO_HEARTBEAT]
        if self._caught_up.by_silence and self._began and offsets() == self._began:
            texts.append(_STALLED.format(seconds=self._idle_ms / 1000))
        if texts:
            self.warnings.append(RunWarning(Kind.UNKNOWN, " ".join(texts)))
            log.warning("%s", self.warnings[-1])

    def _look_at_binlog(self, address: BinlogAddress) -> None:
        """Debezium may be able to ask the database where this process is not."""
        try:
            self._check_resolved()
            binlog = read_binlog(address)
        except ConnectError as error:
            self.warnings.append(RunWarning(Kind.UNKNOWN, f"The end of the binary log was not looked at: {error}"))
            log.warning("%s", self.warnings[-1])
            return
        self._end = binlog.end
        self.notes["binary_log"] = binlog.facts()

    def _has_read(self, now: Progress) -> bool:
        """Whether it has read the binary log up to where this ended at the start, as far as that is known."""
        at = BinlogPosition.of(now.log_file, now.log_position)
        return self._end is not None and at is not None and at >= self._end

    def _is_sent(self) -> bool:
        return self._goal is None or self._goal.is_sent()

    def _readable(self, address: SlotAddress) -> bool:
        """Whether this process can ask the database; Debezium may be able to where psycopg is not."""
        try:
            self._check_resolved()
            self._goal = SlotGoal(address)
        except ConnectError as error:
            self.warnings.append(RunWarning(Kind.UNKNOWN, f"The replication slot was not looked at: {error}"))
            log.warning("%s", self.warnings[-1])
            return False
        return True

    def _check_resolved(self) -> None:
        """:raises ConfigError: this process has no values for some keys: only Java's config providers have them."""
        text = "is a variable that Java resolves, so that the run itself cannot ask the database"
        left = [key for key, value in self._props.items() if key.startswith("database.") and has_reference(value)]
        if left:
            raise ConfigError({key: [text] for key in left})

    def _read(self, address: SlotAddress) -> Slot | None:
        return read_slot(address)


def _now_ms() -> int:
    return int(time.time() * 1000)
