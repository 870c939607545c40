"""Replication slots of PostgreSQL as Debezium makes them, and WAL for them to keep."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from airflow_kconnect.local.ports import LOOPBACK
from tests.support.databases.postgres import PostgresDatabase, programs
from tests.support.databases.servers import end


def debezium_config(database: PostgresDatabase, slot: str, **more: str) -> dict[str, str]:
    """The keys of Debezium's connector for a database."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": LOOPBACK,
        "database.port": str(database.port),
        "database.user": str(database.user),
        "database.password": str(database.password),
        "database.dbname": database.name,
        "slot.name": slot,
        "plugin.name": "pgoutput",
        **more,
    }


@contextmanager
def slot_of(database: PostgresDatabase, name: str) -> Iterator[str]:
    """A slot that no one reads; dropped at the end."""
    database.execute("select pg_create_logical_replication_slot(%s, 'pgoutput')", [name])
    try:
        yield name
    finally:
        _wait_until_idle(database)
        database.execute(
            "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name=%s", [name]
        )


@contextmanager
def reader_of(database: PostgresDatabase, slot: str) -> Iterator[int]:
    """Another program reads the slot; its process in the server."""
    if not database.execute("select 1 from pg_publication where pubname = 'other'"):
        database.execute("create publication other for all tables")
    target = f"host={LOOPBACK} port={database.port} user={database.user} dbname={database.name}"
    reader = subprocess.Popen(
        [
            *(
                programs() / "pg_recvlogical",
                "-d",
                f"{target} password={database.password}",
                "--slot",
                slot,
                "--start",
                "-f",
                "/dev/null",
            ),
            *("-o", "proto_version=1", "-o", "publication_names=other"),
        ],
    )
    try:
        yield _active_pid(database, slot)
    finally:
        end(reader, signal.SIGTERM)
        _wait_until_idle(database)


def drop_slots(database: PostgresDatabase) -> None:
    """Drop those of a database: the server notices a moment later that a reader has ended."""
    _wait_until_idle(database)
    database.execute(
        "select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = %s", [database.name]
    )


def write_wal(database: PostgresDatabase, megabytes: int) -> None:
    """Write to a table that no one captures."""
    database.execute("create table if not exists noise (content text)")
    database.execute("alter table noise alter content set storage external")  # not compressed
    for _ in range(megabytes):
        database.execute("insert into noise values (repeat('x', 1000000))")


def _wait_until_idle(database: PostgresDatabase) -> None:
    deadline_s, active = time.monotonic() + 30, "select 1 from pg_replication_slots where database = %s and active"
    while database.execute(active, [database.name]):
        assert time.monotonic() < deadline_s, "a slot is still read"
        time.sleep(0.05)


def _active_pid(database: PostgresDatabase, slot: str) -> int:
    deadline_s = time.monotonic() + 30
    while (pid := _pid(database, slot)) is None:
        assert time.monotonic() < deadline_s, "no one reads the slot"
        time.sleep(0.05)
    return pid


def _pid(database: PostgresDatabase, slot: str) -> int | None:
    rows = database.execute("select active_pid from pg_replication_slots where slot_name = %s", [slot])
    return None if not rows else rows[0][0]
