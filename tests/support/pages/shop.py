"""The connectors of a shop: a list that looks like one of real life, for tests and screenshots of the page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from tests.support.kafka import create_topic, produce
from tests.support.pages.shop_runs import unregistered, with_runs
from tests.support.registered import Registered, WorkerTopics, dead_letter

RUNNING, FAILED, PAUSED, STOPPED = State.RUNNING, State.FAILED, State.PAUSED, State.STOPPED
JDBC_SOURCE, JDBC_SINK = "io.confluent.connect.jdbc.JdbcSourceConnector", "io.confluent.connect.jdbc.JdbcSinkConnector"
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
DIRECTORY = "airflow_kconnect.connectors.directory.DirectorySinkConnector"
REFUSED = (
    'org.apache.kafka.connect.errors.ConnectException: connection to server at "warehouse", port 5432 refused\n'
    "\tIs the server running on that host and accepting TCP/IP connections?\n"
    "\twhile writing orders-0@204800 … 205823 into table orders (attempt 10 of 10)"
)
_URL = "jdbc:postgresql://orders-db:5432/shop"


def _table(name: str, mode: str = "timestamp+incrementing") -> dict[str, str]:
    key = {"connector.class": JDBC_SOURCE, "connection.url": _URL, "connection.user": "kconnect", "mode": mode}
    secret = {"connection.password": "geheim", "table.whitelist": name, "topic.prefix": "shop."}
    return {**key, **secret, "incrementing.column.name": "id", "timestamp.column.name": "updated_at", "tasks.max": "2"}


def _sink(topics: str, **more: str) -> dict[str, str]:
    return {"connector.class": DIRECTORY, "topics": topics, "directory": f"/lake/{topics}", **more}


def _offset(table: str, at: int) -> tuple[dict[str, str], dict[str, int]]:
    return {"protocol": "1", "table": f"shop.public.{table}"}, {"incrementing": at, "timestamp": 1_763_900_000_000 + at}


def open_shop(bootstrap: str, topics: WorkerTopics) -> None:
    """Write the connectors, and the topics that they read."""
    letters = "orders-warehouse.dead-letters"
    sizes = {"orders": 204_812, "payments": 2_000, "clicks": 1_250, "shipments": 40, "returns": 12, letters: 0}
    for name, size in sizes.items():
        create_topic(bootstrap, name)
        produce(bootstrap, name, [b"{}"] * min(size, 3_000))
    for customer in (17, 40_112, 3):
        dead_letter(bootstrap, letters, "orders-warehouse", {"customer": customer, "total": "12,50"}, BAD)
    warehouse = {
        "connector.class": JDBC_SINK,
        "topics": "orders",
        "connection.url": "jdbc:postgresql://warehouse:5432/dwh",
        "connection.user": "loader",
        "connection.password": "${env:WAREHOUSE_PASSWORD}",
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "pk.fields": "id",
        "transforms": "flat",
        "transforms.flat.type": "org.apache.kafka.connect.transforms.Flatten$Value",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    connectors = [
        Registered(
            "orders-db",
            _table("orders"),
            RUNNING,
            (RUNNING, RUNNING),
            None,
            ("shop.orders",),
            (_offset("orders", 204_812),),
            age_s=42,
        ),
        Registered(
            "customers-db",
            _table("customers"),
            RUNNING,
            (RUNNING,),
            None,
            ("shop.customers",),
            (_offset("customers", 40_112),),
            age_s=75,
        ),
        Registered(
            "inventory-db", _table("inventory", "bulk"), PAUSED, (PAUSED,), None, ("shop.inventory",), age_s=9_000
        ),
        Registered(
            "orders-warehouse",
            warehouse,
            FAILED,
            (FAILED, RUNNING),
            REFUSED,
            ("orders",),
            committed={"orders": 812},
            age_s=310,
        ),
        Registered(
            "payments-lake",
            _sink("payments", format="parquet"),
            RUNNING,
            (RUNNING,),
            None,
            ("payments",),
            committed={"payments": 1_988},
            age_s=18,
        ),
        Registered(
            "clicks-lake",
            _sink("clicks"),
            RUNNING,
            (RUNNING, RUNNING, RUNNING),
            None,
            ("clicks",),
            committed={"clicks": 1_250},
            age_s=3,
        ),
        Registered(
            "shipments-lake",
            _sink("shipments"),
            STOPPED,
            (),
            None,
            ("shipments",),
            committed={"shipments": 40},
            age_s=260_000,
        ),
        Registered(
            "returns-lake",
            _sink("returns"),
            RUNNING,
            (RUNNING,),
            None,
            ("returns",),
            committed={"returns": 7},
            age_s=131,
        ),
        Registered(
            "web-logs",
            {"connector.class": FILE_SOURCE, "file": "/var/log/shop/access.log", "topic": "web-logs"},
            RUNNING,
            (RUNNING,),
            None,
            ("web-logs",),
            (({"filename": "/var/log/shop/access.log"}, {"position": 18_402_113}),),
            age_s=12,
        ),
        Registered(
            "price-list",
            {"connector.class": FILE_SOURCE, "file": "/data/prices.csv", "topic": "prices"},
            STOPPED,
            (),
            None,
            ("prices",),
            (({"filename": "/data/prices.csv"}, {"position": 790}),),
            age_s=90_000,
        ),
    ]
    topics.add(*map(with_runs, connectors), *unregistered())


BAD = "shop.orders: field total: '12,50' is not a number, and the schema of the table needs a DECIMAL(10, 2)"


def many(count: int, topics: Sequence[str]) -> list[Registered]:
    """As many connectors: sources, and sinks of these topics; some of them have failed, or are paused or stopped."""
    states = [RUNNING] * 7 + [FAILED, PAUSED, STOPPED]
    return [_one_of_many(number, states[number % len(states)], topics) for number in range(count)]


def _one_of_many(number: int, state: State, topics: Sequence[str]) -> Registered:
    name = f"team-{number % 37:02}-table-{number:04}"
    return replace(_without_runs(name, number, state, topics), runs=_runs_of_one(name, number, state))


def _runs_of_one(name: str, number: int, state: State) -> ConnectorRuns:
    """A run each quarter of an hour; the last of them as the state says."""
    begin_ms = int(time.time() * 1000) - number * 1_000
    outcomes = [RunState.FAILED if state is FAILED else RunState.SUCCESS] + [RunState.SUCCESS] * 4
    runs = [_run_of_one(name, at, begin_ms, outcome) for at, outcome in enumerate(outcomes)]
    kind = ("source", "sink")[number % 2]
    return ConnectorRuns(
        {"connector.class": JDBC_SOURCE}, JDBC_SOURCE, kind, ("t",), f"connect-{name}", None, tuple(runs)
    )


def _run_of_one(name: str, at: int, begin_ms: int, outcome: RunState) -> RunRecord:
    start_ms = begin_ms - at * 900_000
    counts = {"read": 400 + at, "written": 398, "filtered": 2, "dead_lettered": 0}
    origin: dict[str, str | int] = {"dag": f"kconnect.{name}", "task": "run", "run": f"scheduled__{start_ms}", "try": 1}
    run_id = f"{name}-{start_ms}"
    return RunRecord(run_id, outcome, start_ms, start_ms + 12_000, counts, complete=True, origin=origin)


def _without_runs(name: str, number: int, state: State, topics: Sequence[str]) -> Registered:
    tasks = () if state is STOPPED else (state,)
    trace = REFUSED if state is FAILED else None
    if number % 2:
        topic = topics[number % len(topics)]
        return Registered(name, _sink(topic), state, tasks, trace, (topic,), age_s=number)
    offsets = (_offset(f"table_{number}", number),)
    return Registered(name, _table(f"table_{number}"), state, tasks, trace, (f"shop.t{number}",), offsets, age_s=number)
