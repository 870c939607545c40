"""Debezium's PostgreSQL source as a plain reader of one table: its snapshot, and what is left of it to remove."""

from __future__ import annotations

import time

from benchmarks.database_tables import TABLE
from tests.support.databases.postgres import PostgresDatabase

DEBEZIUM = "3.5.0.Final"
POSTGRES_PLUGIN = f"io.debezium:debezium-connector-postgres:{DEBEZIUM}"
JDBC_PLUGIN = f"io.debezium:debezium-connector-jdbc:{DEBEZIUM}"


def snapshot_config(database: PostgresDatabase, name: str) -> dict[str, str]:
    """The keys of a connector, except its converters: it reads the benchmark's table once, as rows."""
    slot = _slot(name)
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "plugin.name": "pgoutput",
        "slot.name": slot,
        "publication.name": slot,
        "snapshot.mode": "initial_only",
        "table.include.list": f"public.{TABLE}",
        "topic.prefix": name,
        "database.hostname": "127.0.0.1",
        "database.port": str(database.port),
        "database.user": str(database.user),
        "database.password": str(database.password),
        "database.dbname": database.name,
        # As ours: milliseconds and Connect's decimals.
        "time.precision.mode": "connect",
        "transforms": "unwrap",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    }


def forget_snapshot(database: PostgresDatabase, name: str) -> None:
    """End what a stopped connector has left: sessions, its publication, and its slot, which keeps the server's log.

    A snapshot that is stopped in the middle leaves a serializable transaction open, and the next snapshot, which is
    deferrable, would wait for its end.
    """
    slot = _slot(name)
    database.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'Debezium%'")
    free = f"from pg_replication_slots where slot_name = '{slot}'"
    deadline = time.monotonic() + 10
    while database.execute(f"select 1 {free} and active") and time.monotonic() < deadline:
        time.sleep(0.1)
    database.execute(f"select pg_drop_replication_slot(slot_name) {free}")
    database.execute(f"drop publication if exists {slot}")


def _slot(name: str) -> str:
    return name.replace("-", "_")
