"""PostgreSQL for the benchmarks: a server, a table of ten columns, and how far a table or a topic has come."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.postgres import PostgresDatabase, PostgresServer

TABLE = "orders"
COLUMNS = """
    id bigint generated always as identity primary key,
    customer_id integer not null,
    name varchar(60) not null,
    email varchar(80),
    amount numeric(10, 2) not null,
    quantity smallint not null,
    active boolean not null,
    rating double precision,
    created_at timestamp(3) not null,
    note text
"""
_ROWS = """
    select n % 50000, 'customer number ' || n % 50000, 'c' || n % 50000 || '@example.org', (n % 100000) / 100.0,
        n % 100, n % 2 = 0, n / 7.0, timestamp '2024-01-01' + n * interval '1 second',
        case when n % 10 > 0 then 'left at the door of number ' || n end
    from generate_series(1, {rows}) as n
"""


def start_postgres() -> PostgresServer:
    """A server that Debezium's connector can read too."""
    memory = {"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}
    return PostgresServer({"wal_level": "logical", "synchronous_commit": "off", **memory})


def fill(database: PostgresDatabase, rows: int) -> None:
    """The table, with so many rows of about 150 bytes."""
    database.execute(f"drop table if exists {TABLE}")
    database.execute(f"create table {TABLE} ({COLUMNS})")
    names = "customer_id, name, email, amount, quantity, active, rating, created_at, note"
    database.execute(f"insert into {TABLE} ({names}) {_ROWS.format(rows=rows)}")
    database.execute(f"vacuum analyze {TABLE}")


def inserted(database: PostgresDatabase, table: str) -> int:
    """How many rows have been inserted into a table, as the server counts them; it is about a second behind."""
    found = database.execute("select n_tup_ins from pg_stat_user_tables where relname = %s", [table])
    return int(found[0][0]) if found else 0


def rate(moved: Callable[[], int], enough: int, pause_s: float, *, still_runs: Callable[[], None]) -> float:
    """Records/s between the first records and the last: start-up does not count.

    :param still_runs: called now and then; raises when what moves the records has failed.
    :raises RuntimeError: there are too few records to see them move.
    """
    while moved() == 0:
        still_runs()
        time.sleep(pause_s)
    first, began = moved(), time.monotonic()
    looked = began
    while (now := moved()) < enough:
        if time.monotonic() - looked > 5:
            still_runs()
            looked = time.monotonic()
        time.sleep(pause_s)
    if now == first:
        raise RuntimeError(f"All {now} records came at once: it takes more rows to measure a rate")
    return (now - first) / (time.monotonic() - began)
