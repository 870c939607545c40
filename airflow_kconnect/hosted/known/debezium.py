"""What Debezium's MBeans say about a run: is a snapshot running, is the stream connected, has it caught up?

All Debezium connectors have the same MBeans: `debezium.<database>:type=connector-metrics,context=<context>,
server=<topic prefix>`, some with `task` or `database` as well. They appear some time after Connect says that the task
is running. They are read through a function, so that these rules need no JVM.

None of them says how much of the log is left to read. A stream has caught up with a moment when

* it has sent an event of that moment or a later one, and Connect has polled all events up to this one: so it ends under
  constant writes; or
* it has read a position of the log beyond that moment, where its MBeans say how far it is: those for MySQL and MariaDB
  do; or
* nothing has moved for a while: no one writes, at least not to the tables that are captured. Where the log's end cannot
  be asked for, a connector may as well be reading a long part of it in which nothing is captured. Then figures that say
  so, where there are some, count as movement, too: but only for a time, since a busy log has no end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Beans = Mapping[str, Mapping[str, Any]]
"""Canonical name of an MBean -> its attributes."""

Read = Callable[[str], Beans]
"""Reads the MBeans whose names match a pattern of `javax.management.ObjectName`."""

DEBEZIUM = "debezium.*:type=connector-metrics,server={server},*"
TASKS = "kafka.connect:type=source-task-metrics,connector={connector},*"
"""Patterns with names that the reader knows, see `metrics.MBeans`: another connector may be in the same JVM."""

READING = ("NumberOfEventsFiltered", "CurrentScn", "OffsetScn", "CommittedScn", "TotalProcessedRows")
"""Figures that move while a log is read, also where nothing of it is captured; all but the first are Oracle's."""

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
# With these, nothing comes after the snapshot.
_SNAPSHOT_MODES_WITHOUT_STREAM = ("initial_only",)
# How many times the idle time they count.
_READING_TIMES = 10


@dataclass(frozen=True)
class Progress:
    """Where a Debezium connector is.

    :param snapshot_running: it is reading the tables as they are; also while that is paused.
    :param snapshot_finished: it has read them, or they had been read before this run.
    :param streaming: it is connected to the log of changes.
    :param behind_ms: by how many milliseconds the last change was older than the moment at which it was read; None if
        there was no change yet, or the database says no time.
    :param reached_ms: when the last change was made, ms since the epoch by the database's clock; None as above.
    :param events: changes and rows of snapshots seen in this run.
    :param queued: how many of them Connect has not polled yet.
    :param capacity: how many can be queued.
    :param log_file: of MySQL and MariaDB: the file of the binary log that is read.
    :param log_position: of MySQL and MariaDB: up to where it was read.
    :param reading: figures that move while the log is read, also where nothing of it is captured.
    """

    snapshot_running: bool
    snapshot_finished: bool
    streaming: bool
    behind_ms: int | None
    reached_ms: int | None
    events: int
    queued: int
    capacity: int
    log_file: str | None = None
    log_position: int | None = None
    reading: tuple[str, ...] = ()

    def text(self) -> str:
        """For a progress line, such as `streaming, 120 ms behind`."""
        if self.snapshot_running:
            return f"snapshot, {self.events} rows"
        if not self.streaming:
            return "snapshot finished" if self.snapshot_finished else "connecting to the database"
        return "streaming" if self.behind_ms is None else f"streaming, {self.behind_ms} ms behind"


# Texts of Debezium's own errors -> the key to change, and what to tell. Those texts are long, and name no cure.
_EXPLAINED = (
    (
        r"(?:MySql|MariaDb)OffsetContext[^\n]* no longer available on the server\. Reconfigure"
        r"|Could not find (?:GTID state requested by|first log file name in)|purged (?:required )?binary logs",
        "snapshot.mode",
        "the server no longer has the binary log from the connector's offsets on: it was purged, or removed by its "
        "age. The changes in it are lost: reset the connector's offsets, so that the next run reads the tables again",
    ),
    (
        r"no longer available on the server\. Reconfigure|has been removed from the database write-ahead log",
        "snapshot.mode",
        "the database no longer has the changes from the connector's offsets on: its slot, its WAL or its binary log "
        "was removed. They are lost: set `snapshot.mode` to `when_needed` for a run that reads the tables again, or "
        "reset the connector's offsets",
    ),
    (
        r"Cannot seek to the last known offset '[^']*' on replication slot",
        "slot.name",
        "the slot is ahead of the connector's offsets, which `offset.mismatch.strategy` forbids. Either it was dropped "
        "and created again, and the changes in between are lost: set `snapshot.mode` to `always` for one run that "
        "reads the tables again, or reset the connector's offsets. Or `lsn.flush.mode` is `connector_and_driver`, "
        "which moves the slot by itself: do not use both",
    ),
)


def explanation(trace: str) -> tuple[str, str] | None:
    """The key to change and what to tell for a failure of Debezium that no retry can cure; None for others.

    :param trace: Java's stack trace.
    """
    found = ((key, text) for pattern, key, text in _EXPLAINED if re.search(pattern, trace))
    return next(found, None)


def is_debezium(connector_class: str) -> bool:
    """Whether a class is one of Debezium's connectors for databases, whose MBeans this module reads."""
    return connector_class.startswith("io.debezium.connector.")


def server(config: Mapping[str, str]) -> str:
    """What the MBeans of a connector have as `server`; ``*`` if its configuration does not say so."""
    prefix = str(config.get("topic.prefix", "")).strip()
    return prefix if _PLAIN.fullmatch(prefix) else "*"


def streams(config: Mapping[str, str]) -> bool:
    """Whether a connector reads the log of changes after its snapshot."""
    return str(config.get("snapshot.mode", "")).strip().lower() not in _SNAPSHOT_MODES_WITHOUT_STREAM


def progress(read: Read, now_ms: int) -> Progress | None:
    """Where the connector is; None as long as it has no MBeans, or is not a Debezium connector.

    :param now_ms: the time, ms since the epoch.
    """
    beans = read(DEBEZIUM)
    snapshot, streaming = _context(beans, "snapshot"), _context(beans, "streaming")
    if not snapshot and not streaming:
        return None
    since = _largest(streaming, "MilliSecondsSinceLastEvent")
    # Negative if the database's clock is ahead of this machine's; also before the first change.
    behind = None if since is None else _largest(streaming, "MilliSecondsBehindSource") or 0
    capacity, free = _largest(streaming, "QueueTotalCapacity") or 0, _smallest(streaming, "QueueRemainingCapacity")
    return Progress(
        # Both are true for an instant at the end.
        snapshot_running=_any(snapshot, "SnapshotRunning") or _any(snapshot, "SnapshotPaused"),
        snapshot_finished=_all(snapshot, "SnapshotCompleted", "SnapshotSkipped"),
        streaming=_all(streaming, "Connected"),
        behind_ms=behind,
        reached_ms=None if since is None or behind is None else now_ms - since - behind,
        events=sum(_numbers((*snapshot, *streaming), "TotalNumberOfEventsSeen")),
        queued=0 if free is None else max(capacity - free, 0),
        capacity=capacity,
        log_file=next((str(bean["BinlogFilename"]) for bean in streaming if bean.get("BinlogFilename")), None),
        log_position=_largest(streaming, "BinlogPosition"),
        # Oracle's numbers are Java objects.
        reading=tuple(str(bean[name]) for bean in streaming for name in READING if bean.get(name) is not None),
    )


def beats(config: Mapping[str, str]) -> bool:
    """Whether a connector sends heartbeats, which are records even if nothing was changed."""
    return str(config.get("heartbeat.interval.ms", "")).strip() not in ("", "0")


class CaughtUp:
    """Whether a source has caught up with what the database had when the run began; asked again and again.

    Whatever was polled until then is committed when Connect stops the connector. `last` is the progress that was seen
    last.

    :param started_ms: when the run began, ms since the epoch.
    :param idle_ms: how long nothing must have moved.
    :param streams: see `streams`.
    :param beats: see `beats`; heartbeats are polled and written, but are not events.
    :param is_sent: whether the database has sent everything that it had at the start, where it can be asked: silence
        may also mean that it is still reading a long log in which nothing is captured.
    :param has_read: whether its progress says that it has read the log up to where this ended at the start.
    """

    def __init__(
        self,
        started_ms: int,
        idle_ms: int,
        *,
        streams: bool = True,
        beats: bool = False,
        is_sent: Callable[[], bool] = lambda: True,
        has_read: Callable[[Progress], bool] = lambda _: False,
    ) -> None:
        self._started_ms, self._idle_ms, self._streams, self._beats = started_ms, idle_ms, streams, beats
        self._is_sent, self._has_read = is_sent, has_read
        self.last: Progress | None = None
        self.by_silence = False
        """Whether it has caught up only as far as silence says."""
        self._knows_end = True
        self._reading: tuple[str, ...] = ()
        self._reading_ms = started_ms
        self._seen: tuple[float, ...] | None = None
        self._since_ms = 0
        self._polled_at_goal: float | None = None
        self._emptied = False
        self._was_sent = not streams

    def without_end(self, idle_ms: int) -> None:
        """Nothing is known of the log's end.

        :param idle_ms: how long nothing must have moved then.
        """
        self._knows_end, self._idle_ms = False, idle_ms

    def look(self, read: Read, now_ms: int) -> bool:
        """Whether it has caught up. Call it at least twice a second.

        :param now_ms: the time, ms since the epoch.
        """
        # The queue first: an event that has left it meanwhile is in the number that is read second.
        now = progress(read, now_ms)
        self.last = now or self.last
        tasks = list(read(TASKS).values())
        polled = float(sum(_numbers(tasks, "source-record-poll-total")))
        if now is None or not tasks:
            return False
        active = sum(_numbers(tasks, "source-record-active-count"))
        written = sum(_numbers(tasks, "source-record-write-total"))
        moving = () if self._beats else (now.queued, polled, written, active)
        # Servers of MySQL send the whole log: while nothing of it is captured, only the position moves.
        at = () if now.log_position is None else (now.log_position,)
        self._watch((now.events, *at, *moving), now_ms)
        if now.snapshot_running or not self._can_be_at_its_end(now):
            return False
        if not self._was_sent:
            # What was sent just now may not have arrived: the idle time begins.
            self._was_sent, self._since_ms = self._is_sent(), now_ms
        if self._has_passed_the_start(now, polled):
            return True
        self.by_silence = self._was_sent and now.queued == 0 and active == 0 and self._is_quiet(now, now_ms)
        return self.by_silence

    def _is_quiet(self, now: Progress, now_ms: int) -> bool:
        if now.reading != self._reading:
            self._reading, self._reading_ms = now.reading, now_ms
        quiet_ms = now_ms - self._since_ms
        if self._knows_end or quiet_ms >= _READING_TIMES * self._idle_ms:
            return quiet_ms >= self._idle_ms
        return min(quiet_ms, now_ms - self._reading_ms) >= self._idle_ms

    def _can_be_at_its_end(self, now: Progress) -> bool:
        return now.streaming if self._streams else now.snapshot_finished

    def _watch(self, seen: tuple[float, ...], now_ms: int) -> None:
        if seen != self._seen:
            self._seen, self._since_ms = seen, now_ms

    def _has_passed_the_start(self, now: Progress, polled: float) -> bool:
        """Whether Connect has polled everything up to an event that is younger than the run, or to the log's end then.

        Between queue and count there can be one batch, which is smaller than the queue can be.
        """
        if self._polled_at_goal is None:
            if self._has_read(now) or (now.reached_ms is not None and now.reached_ms >= self._started_ms):
                self._polled_at_goal = polled
            return False
        if self._emptied:
            return True
        self._emptied = now.queued == 0
        return polled - self._polled_at_goal >= 2 * now.capacity > 0


def _context(beans: Beans, context: str) -> list[Mapping[str, Any]]:
    return [
        attributes for name, attributes in beans.items() if f"context={context}" in name.partition(":")[2].split(",")
    ]


def _numbers(beans: Iterable[Mapping[str, Any]], attribute: str) -> list[int]:
    """The known values: -1 and NaN stand for none."""
    values = (bean.get(attribute) for bean in beans)
    known = (value for value in values if isinstance(value, int | float) and not math.isnan(value))
    return [int(value) for value in known if value >= 0]


def _largest(beans: Iterable[Mapping[str, Any]], attribute: str) -> int | None:
    return max(_numbers(beans, attribute), default=None)


def _smallest(beans: Iterable[Mapping[str, Any]], attribute: str) -> int | None:
    return min(_numbers(beans, attribute), default=None)


def _any(beans: Iterable[Mapping[str, Any]], attribute: str) -> bool:
    return any(bean.get(attribute) is True for bean in beans)


def _all(beans: Iterable[Mapping[str, Any]], *attributes: str) -> bool:
    """Whether one of the attributes is true in each MBean that has them, and there is one."""
    having = [bean for bean in beans if any(attribute in bean for attribute in attributes)]
    return bool(having) and all(any(bean.get(attribute) is True for attribute in attributes) for bean in having)
