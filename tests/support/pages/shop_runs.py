"""What the runs of the shop's connectors have told: regular ones, one that lost some records, one in progress."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from airflow_kconnect.control.runs import DagTask
from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, Progress, RunRecord, RunState
from tests.support.registered import Registered


class Remembering:
    """Runs as Airflow remembers them, with pages of its own."""

    def start(self, connector: str) -> None:
        """Nothing is started."""

    def end(self, connector: str) -> None:
        """Nothing is ended."""

    def history(self, tasks: Collection[DagTask]) -> list[dict[str, Any]]:
        """Two runs, newest first: one has not begun."""
        log = "/dags/kconnect.orders/runs/b/tasks/run"
        return [
            {"id": "c", "state": "queued", "start_ms": None, "end_ms": None},
            {"id": "b", "state": "failed", "start_ms": 60_000, "end_ms": 90_000, "url": log},
        ]


def now_ms() -> int:
    """Epoch milliseconds."""
    return int(time.time() * 1000)


def run(ago_s: float, seconds: float, read: int, **more: Any) -> RunRecord:
    """A run that began so long ago, and has written all that it read."""
    start_ms = now_ms() - int(ago_s * 1000)
    records = {"read": read, "written": read, "filtered": 0, "dead_lettered": 0}
    given = {"records": records, "complete": True, **more}
    return RunRecord(f"r{start_ms}", RunState.SUCCESS, start_ms, start_ms + int(seconds * 1000), **given)


def failed(ago_s: float, seconds: float, error: str) -> RunRecord:
    """A run that has moved nothing."""
    return run(ago_s, seconds, 0, complete=False).ended(now_ms() - int((ago_s - seconds) * 1000), error=error)


def in_progress(ago_s: float, records: int, expected: int) -> RunRecord:
    """A run that has moved some of its records."""
    start_ms = now_ms() - int(ago_s * 1000)
    progress = Progress(records, expected, records / ago_s, now_ms())
    counts = {"read": records, "written": records}
    return RunRecord(f"r{start_ms}", RunState.RUNNING, start_ms, records=counts, progress=progress)


def regular(ago_s: float, *reads: int) -> tuple[RunRecord, ...]:
    """A run every hour: the last one began so long ago."""
    return tuple(run(ago_s + 3_600 * at, 6 + read / 400, read) for at, read in enumerate(reads))


def told(runs: Sequence[RunRecord], config: Mapping[str, str], kind: str, *topics: str, **more: Any) -> ConnectorRuns:
    """The record of these runs."""
    return ConnectorRuns(config, config["connector.class"], kind, topics, runs=tuple(runs), **more)


def of_dag(runs: Sequence[RunRecord], dag: str, task: str) -> list[RunRecord]:
    """The same runs, as tasks of a DAG."""
    return [replace(each, origin={"dag": dag, "task": task, "run": f"scheduled__{each.start_ms}"}) for each in runs]


def with_runs(each: Registered) -> Registered:
    """A connector of the shop with its past."""
    if each.state is State.STOPPED:
        return each
    kind = "sink" if "topics" in each.config else "source"
    return replace(each, runs=told(_past_of(each), each.config, kind, *each.topics))


def _past_of(each: Registered) -> Sequence[RunRecord]:
    past = regular(each.age_s, 1_204, 1_187, 968, 40, 1_310, 1_262, 1_175, 1_400)
    if each.name == "orders-warehouse":
        return failed(310, 41, "connection to server at `warehouse`, port 5432 refused"), *regular(3_910, 1_911, 2_040)
    if each.name == "returns-lake":
        lost = {"read": 7, "written": 5, "filtered": 0, "dead_lettered": 2}
        warning = "2 of 7 records became dead letters"
        return run(each.age_s, 5, 7, records=lost, warnings=(warning,), warning_kinds=("dead_letters",)), *past[1:]
    if each.name == "customers-db":
        return in_progress(75, 31_400, 40_112), *past[1:]
    return past


def unregistered() -> tuple[Registered, Registered]:
    """A source that a DAG runs, and a sink that was run from a file."""
    table = {"connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector", "topic.prefix": "shop."}
    mirror = {"connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector", "topics": "shop.stock"}
    hourly = of_dag(regular(700, 818, 796, 803, 811), "shop_mirror", "read_stock")
    by_hand = replace(run(5_400, 9, 818), origin={"file": "/home/ada/connectors/stock-mirror.json", "host": "ada-pc"})
    source = Registered(
        "stock-db",
        table,
        topics=("shop.stock",),
        offsets=(({"protocol": "1", "table": "shop.public.stock"}, {"incrementing": 3_228}),),
        runs=told(hourly, table, "source", "shop.stock"),
        registered=False,
    )
    sink = Registered(
        "stock-mirror",
        mirror,
        topics=("shop.stock",),
        runs=told([by_hand], mirror, "sink", "shop.stock", group="connect-stock-mirror"),
        registered=False,
    )
    return source, sink
