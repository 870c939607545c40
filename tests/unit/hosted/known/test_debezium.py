"""What Debezium's MBeans say; the values are those of its PostgreSQL connector 3.5, unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.hosted.known.debezium import (
    DEBEZIUM,
    TASKS,
    Beans,
    CaughtUp,
    Progress,
    beats,
    explanation,
    is_debezium,
    progress,
    streams,
)

STARTED_MS = 1_000_000
IDLE_MS = 2000
SNAPSHOT = "debezium.postgres:context=snapshot,server=shop,type=connector-metrics"
STREAMING = "debezium.postgres:context=streaming,server=shop,type=connector-metrics"
TASK = "kafka.connect:connector=shop,task=0,type=source-task-metrics"

_QUEUE = {"QueueTotalCapacity": 8192, "QueueRemainingCapacity": 8192}
_NO_EVENT = {"MilliSecondsSinceLastEvent": -1, "TotalNumberOfEventsSeen": 0}
_FLAGS = {f"Snapshot{state}": False for state in ("Running", "Paused", "Completed", "Aborted", "Skipped")}
_STREAM = {**_NO_EVENT, **_QUEUE, "Connected": True, "MilliSecondsBehindSource": -1}


class Machine:
    """The MBeans of a worker, which a test changes."""

    def __init__(self, snapshot: str = "Skipped") -> None:
        self.snapshot: dict[str, Any] = {**_FLAGS, **_NO_EVENT, **_QUEUE, f"Snapshot{snapshot}": True}
        self.streaming: dict[str, Any] = dict(_STREAM)
        self.task: dict[str, Any] = {"source-record-active-count": 0.0}
        self.has_debezium = self.has_task = True
        self.count(polled=0, written=0)

    def count(self, *, polled: float, written: float) -> None:
        self.task |= {"source-record-poll-total": polled, "source-record-write-total": written}
        self.task["source-record-active-count"] = polled - written

    def event(self, seen: int, *, behind: int, since: int, queued: int = 0) -> None:
        self.streaming |= {"TotalNumberOfEventsSeen": seen, "MilliSecondsBehindSource": behind}
        self.streaming |= {"MilliSecondsSinceLastEvent": since, "QueueRemainingCapacity": 8192 - queued}

    def binlog(self, file: str, position: int) -> None:
        """What only the connectors for MySQL and MariaDB say."""
        self.streaming |= {"BinlogFilename": file, "BinlogPosition": position}

    def read(self, pattern: str) -> Beans:
        if pattern == TASKS:
            return {TASK: self.task} if self.has_task else {}
        assert pattern == DEBEZIUM
        return {SNAPSHOT: self.snapshot, STREAMING: self.streaming} if self.has_debezium else {}


def _progress(machine: Machine, now_ms: int = STARTED_MS) -> Progress:
    found = progress(machine.read, now_ms)
    assert found is not None
    return found


def test_other_connectors_have_no_progress() -> None:
    assert progress(lambda pattern: {}, STARTED_MS) is None


def test_a_running_snapshot_is_told_with_its_rows() -> None:
    machine = Machine("Running")
    machine.snapshot["TotalNumberOfEventsSeen"] = 2507
    machine.streaming["Connected"] = False
    assert _progress(machine).text() == "snapshot, 2507 rows"


def test_a_snapshot_that_is_running_and_completed_at_once_is_running() -> None:
    machine = Machine("Completed")
    machine.snapshot["SnapshotRunning"] = True
    assert _progress(machine).snapshot_running


@pytest.mark.parametrize("state", ["Completed", "Skipped"])
def test_a_snapshot_can_be_finished_before_or_during_the_run(state: str) -> None:
    assert _progress(Machine(state)).snapshot_finished


def test_an_aborted_snapshot_is_not_finished() -> None:
    assert not _progress(Machine("Aborted")).snapshot_finished


def test_without_an_event_nobody_knows_how_far_behind_it_is() -> None:
    found = _progress(Machine())
    assert (found.behind_ms, found.reached_ms, found.text()) == (None, None, "streaming")


def test_the_last_event_tells_which_moment_was_reached() -> None:
    machine = Machine()
    machine.event(10, behind=120, since=30)
    found = _progress(machine, now_ms=5000)
    assert (found.behind_ms, found.reached_ms, found.text()) == (120, 4850, "streaming, 120 ms behind")


def test_a_database_whose_clock_is_ahead_is_not_behind() -> None:
    machine = Machine()
    machine.event(10, behind=-700, since=0)
    assert (_progress(machine).behind_ms, _progress(machine).reached_ms) == (0, STARTED_MS)


def test_what_is_in_the_queue_was_not_polled_yet() -> None:
    machine = Machine()
    machine.event(10, behind=1, since=1, queued=512)
    assert _progress(machine).queued == 512


def test_several_databases_of_one_connector_are_seen_together() -> None:
    """SQL Server's connector has MBeans for its task and for each database."""
    name = "debezium.sql_server:type=connector-metrics,server=erp,task=0,context="

    def database(kind: str, database: str) -> str:
        return f"{name}{kind},database={database}"

    beans: dict[str, Mapping[str, Any]] = {
        f"{name}snapshot": dict(_QUEUE),
        f"{name}streaming": {**_QUEUE, "Connected": True},
        database("snapshot", "a"): {**_FLAGS, **_NO_EVENT, "SnapshotCompleted": True},
        database("snapshot", "b"): {**_FLAGS, **_NO_EVENT, "SnapshotRunning": True, "TotalNumberOfEventsSeen": 7},
        database("streaming", "a"): {"MilliSecondsBehindSource": 50, "MilliSecondsSinceLastEvent": 5},
        database("streaming", "b"): {"MilliSecondsBehindSource": -1, "MilliSecondsSinceLastEvent": -1},
    }
    found = progress(lambda pattern: beans, STARTED_MS)
    assert found is not None
    assert (found.snapshot_running, found.snapshot_finished, found.streaming, found.events, found.behind_ms) == (
        *(True, False, True, 7, 50),
    )


def test_it_has_not_caught_up_before_debezium_has_mbeans() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    machine.has_debezium = False
    assert _looks(caught_up, machine, until_ms=20_000) is None


def test_it_has_not_caught_up_before_connect_has_a_task() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    machine.has_task = False
    assert _looks(caught_up, machine, until_ms=20_000) is None


def test_a_stream_on_which_nothing_moves_has_caught_up_when_the_idle_time_is_over() -> None:
    assert _looks(CaughtUp(STARTED_MS, IDLE_MS), Machine(), until_ms=20_000) == IDLE_MS


def test_a_snapshot_that_pauses_is_no_end() -> None:
    machine = Machine("Running")
    assert _looks(CaughtUp(STARTED_MS, IDLE_MS), machine, until_ms=20_000) is None


def test_a_stream_that_is_not_connected_is_no_end() -> None:
    machine = Machine("Completed")
    machine.streaming["Connected"] = False
    assert _looks(CaughtUp(STARTED_MS, IDLE_MS), machine, until_ms=20_000) is None


def test_a_connector_that_only_makes_a_snapshot_ends_without_stream() -> None:
    machine = Machine("Completed")
    machine.streaming["Connected"] = False
    assert _looks(CaughtUp(STARTED_MS, IDLE_MS, streams=False), machine, until_ms=20_000) == IDLE_MS


@pytest.mark.parametrize(("queued", "polled", "written"), [(608, 2392, 2392), (0, 3000, 2392)])
def test_what_is_on_its_way_is_waited_for(queued: int, polled: int, written: int) -> None:
    machine = Machine()
    machine.event(3000, behind=STARTED_MS, since=1000, queued=queued)
    machine.count(polled=polled, written=written)
    assert _looks(CaughtUp(STARTED_MS, IDLE_MS), machine, until_ms=20_000) is None


def test_a_batch_that_no_one_counts_for_a_moment_restarts_the_idle_time() -> None:
    """It has left the queue, and Connect has not counted it."""
    machine, caught_up = Machine("Completed"), CaughtUp(STARTED_MS, IDLE_MS)
    machine.snapshot["TotalNumberOfEventsSeen"] = 3000
    machine.count(polled=2392, written=2392)
    assert _looks(caught_up, machine, until_ms=1900) is None
    machine.count(polled=3000, written=3000)
    assert _looks(caught_up, machine, from_ms=2000, until_ms=20_000) == 2000 + IDLE_MS


def test_heartbeats_are_not_something_that_moves() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS, beats=True)
    for beat in range(100):
        machine.count(polled=beat, written=beat)
        machine.streaming["QueueRemainingCapacity"] = 8192 - beat % 2
        if caught_up.look(machine.read, STARTED_MS + 500 * beat):
            break
    assert beat == IDLE_MS // 500


@pytest.mark.parametrize(("interval", "expected"), [(None, False), ("0", False), ("1000", True)])
def test_heartbeats_are_off_by_default(interval: str | None, expected: bool) -> None:
    assert beats({} if interval is None else {"heartbeat.interval.ms": interval}) is expected


def test_constant_writes_end_when_all_that_was_there_at_the_start_is_polled() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    # 5 s behind, and ten events per look: the idle time never begins.
    for look in range(1, 200):
        now_ms = STARTED_MS + 100 * look
        machine.event(10 * look, behind=max(5000 - 200 * look, 10), since=0, queued=10)
        machine.count(polled=10.0 * (look - 1), written=10.0 * (look - 2))
        assert not caught_up.look(machine.read, now_ms)
    machine.event(2000, behind=10, since=0, queued=0)
    machine.count(polled=2000, written=1990)
    assert not caught_up.look(machine.read, STARTED_MS + 20_000), "a batch may not have been counted yet"
    machine.event(2010, behind=10, since=0, queued=10)
    assert caught_up.look(machine.read, STARTED_MS + 20_100)


def test_a_queue_that_is_never_empty_ends_once_twice_its_size_was_polled() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    ends = None
    for look in range(1, 30):
        machine.event(2048 * look, behind=0, since=0, queued=8192)
        machine.count(polled=2048.0 * look, written=2048.0 * look)
        if caught_up.look(machine.read, STARTED_MS + 100 * look):
            ends = look
            break
    assert ends == 1 + 2 * 8192 // 2048


def test_events_that_are_older_than_the_run_do_not_end_it() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    for look in range(1, 100):
        machine.event(100 * look, behind=60_000, since=0)
        machine.count(polled=100.0 * look, written=100.0 * look)
        assert not caught_up.look(machine.read, STARTED_MS + 100 * look)


def test_the_idle_time_begins_when_the_database_has_sent_what_it_had() -> None:
    """Until then it may be reading a long log in which nothing is captured."""
    at_ms = STARTED_MS

    def is_sent() -> bool:
        return at_ms >= STARTED_MS + 30_000

    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS, is_sent=is_sent)
    while not caught_up.look(machine.read, at_ms):
        at_ms += 100
    assert at_ms == STARTED_MS + 30_000 + IDLE_MS


@pytest.mark.parametrize(
    ("mode", "expected"), [(None, True), ("initial", True), ("initial_only", False), (" Initial_Only ", False)]
)
def test_only_one_snapshot_mode_has_no_stream(mode: str | None, expected: bool) -> None:
    assert streams({} if mode is None else {"snapshot.mode": mode}) is expected


_GONE = (
    "io.debezium.DebeziumException: The connector is trying to read change stream starting at PostgresOffsetContext "
    "[sourceInfoSchema=Schema{io.debezium.connector.postgresql.Source:STRUCT}], but this is no longer available on the "
    "server. Reconfigure the connector to use a snapshot mode when needed.\n\tat io.debezium.connector.common"
)
_PURGED = (
    "Caused by: io.debezium.DebeziumException: Could not find GTID state requested by slave in any binlog files. "
    "Probably the slave state is too old and required binlog files have been purged. Error code: 1236; SQLSTATE: HY000."
)
_AHEAD = (
    "io.debezium.DebeziumException: Cannot seek to the last known offset '0/192F758' on replication slot 'shop'. Error "
    "from server: 'ERROR: cannot advance replication slot to 0/192F758, minimum is 0/1934940'"
)


def test_where_the_binary_log_is_known_no_time_is_waited_for_its_end() -> None:
    machine = Machine()
    machine.binlog("binlog.000002", 4)
    caught_up = CaughtUp(STARTED_MS, IDLE_MS, has_read=lambda now: (now.log_position or 0) >= 900)
    assert _looks(caught_up, machine, until_ms=1000) is None
    machine.binlog("binlog.000002", 900)
    assert _looks(caught_up, machine, from_ms=1000, until_ms=2000) == 1200


def test_a_binary_log_of_other_tables_is_not_silence() -> None:
    machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
    for at_ms in range(0, 10_000, 100):
        machine.binlog("binlog.000001", 4 + at_ms)
        assert not caught_up.look(machine.read, STARTED_MS + at_ms)
    assert _looks(caught_up, machine, from_ms=10_000, until_ms=20_000) == 9900 + IDLE_MS


@pytest.mark.parametrize(
    ("trace", "key", "text"),
    [
        (_GONE, "snapshot.mode", "its slot, its WAL"),
        (_GONE.replace("Postgres", "MySql"), "snapshot.mode", "no longer has the binary log"),
        (_PURGED, "snapshot.mode", "no longer has the binary log"),
        (_AHEAD, "slot.name", "the slot is ahead"),
    ],
)
def test_failures_that_no_retry_cures_are_explained(trace: str, key: str, text: str) -> None:
    found = explanation(trace)
    assert found is not None and found[0] == key
    assert text in found[1]


def test_other_failures_are_not_explained() -> None:
    assert explanation("java.net.ConnectException: Connection refused") is None


def test_debezium_is_recognised_by_its_classes() -> None:
    assert is_debezium("io.debezium.connector.postgresql.PostgresConnector")
    assert not is_debezium("org.apache.kafka.connect.file.FileStreamSourceConnector")


def _looks(caught_up: CaughtUp, machine: Machine, *, until_ms: int, from_ms: int = 0) -> int | None:
    """Look every 100 ms; when it had caught up, in ms since the start, or None."""
    for at_ms in range(from_ms, until_ms, 100):
        if caught_up.look(machine.read, STARTED_MS + at_ms):
            return at_ms
    return None


class TestALogWhoseEndIsNotKnown:
    """Oracle's, SQL Server's, MongoDB's: nothing captured may also be a long part of it that is being read."""

    def test_figures_that_move_while_it_is_read_are_not_silence(self) -> None:
        machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
        caught_up.without_end(IDLE_MS)
        for look in range(100):
            machine.streaming["CurrentScn"] = min(look, 40)
            if caught_up.look(machine.read, STARTED_MS + 100 * look):
                break
        assert look == 40 + IDLE_MS // 100

    def test_a_log_that_is_written_to_all_the_time_ends_a_run_after_ten_idle_times(self) -> None:
        machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
        caught_up.without_end(IDLE_MS)
        for look in range(1000):
            machine.streaming["NumberOfEventsFiltered"] = look
            if caught_up.look(machine.read, STARTED_MS + 100 * look):
                break
        assert (look, caught_up.by_silence) == (10 * IDLE_MS // 100, True)

    def test_they_say_nothing_where_the_end_is_known(self) -> None:
        machine, caught_up = Machine(), CaughtUp(STARTED_MS, IDLE_MS)
        for look in range(100):
            machine.streaming["NumberOfEventsFiltered"] = look
            if caught_up.look(machine.read, STARTED_MS + 100 * look):
                break
        assert look == IDLE_MS // 100
