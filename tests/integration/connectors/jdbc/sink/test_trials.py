"""Upserts into PostgreSQL are tried as plain copies first: what a table refuses is merged, and nothing else differs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.databases.postgresql import copy as postgres_copy
from airflow_kconnect.connectors.jdbc.databases.postgresql.writing import PostgresTarget
from airflow_kconnect.connectors.jdbc.sink.config import confluent_keys, settings_of
from airflow_kconnect.connectors.jdbc.sink.layouts import layout_of
from airflow_kconnect.connectors.jdbc.sink.writer import JdbcWriter
from tests.support.databases.postgres import PostgresDatabase, PostgresServer

ROW = Shape(struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA)))
KEY = Shape(struct(("id", INT32_SCHEMA)))
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "offsets.table": ""}
Row = tuple[int, str | None]


class Sink:
    """The writer of a sink, without Spark."""

    def __init__(self, database: PostgresDatabase, **keys: str) -> None:
        given = {key.replace("_", "."): value for key, value in keys.items()}
        self._settings = settings_of("sink", confluent_keys().parse({**database.config, **UPSERT, **given}))

    def run(self, *rows: Row) -> None:
        """A split of these rows."""
        writer = JdbcWriter(PostgresTarget(self._settings), (layout_of(self._settings, KEY, ROW),), None, "")
        try:
            writer.open(SinkSplit("t", 0, 0, len(rows)))
            for first in range(0, len(rows), 1000):
                writer.write(_batch(rows[first : first + 1000], first))
            writer.close(len(rows))
        except BaseException:
            writer.abort()
            raise


def _batch(rows: Sequence[Row], first: int) -> pa.RecordBatch:
    ids, names = zip(*rows, strict=True)
    columns = {
        "topic": pa.nulls(len(rows), pa.string()),
        "part": pa.array([0] * len(rows), pa.int32()),
        "cell_0_0": pa.array(ids, pa.int32()),
        "cell_0_1": pa.array(names, pa.string()),
        "kafka_offset": pa.array(range(first, first + len(rows)), pa.int64()),
    }
    return pa.record_batch(columns)


_LOGGED = """
    CREATE TABLE done (statement text);
    CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO done VALUES (split_part(current_query(), ' ', 1)); RETURN NULL; END $$;
    CREATE TRIGGER log AFTER INSERT ON t EXECUTE FUNCTION log()
"""


def rows(database: PostgresDatabase) -> list[tuple[Any, ...]]:
    return database.execute("SELECT * FROM t ORDER BY 1")


@pytest.fixture
def database(postgres: PostgresServer) -> PostgresDatabase:
    """With a table that logs how rows come."""
    found = postgres.create_database()
    found.execute("CREATE TABLE t (id int PRIMARY KEY, name text)")
    found.execute(_LOGGED)
    return found


@pytest.fixture
def sink(database: PostgresDatabase) -> Sink:
    return Sink(database)


def done(database: PostgresDatabase) -> list[str]:
    """How rows came, in order; what was rolled back left no trace."""
    return [statement for (statement,) in database.execute("SELECT statement FROM done")]


def test_new_keys_are_copied(sink: Sink, database: PostgresDatabase) -> None:
    sink.run((1, "a"), (2, "b"))
    assert (rows(database), done(database)) == ([(1, "a"), (2, "b")], ["COPY"])


def test_last_of_the_same_keys_wins(sink: Sink, database: PostgresDatabase) -> None:
    sink.run((1, "a"), (2, "b"), (1, "c"))
    assert (rows(database), done(database)) == ([(1, "c"), (2, "b")], ["INSERT"])


def test_rows_that_are_there_are_replaced(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("INSERT INTO t VALUES (2, 'old'), (3, 'old')")
    database.execute("DELETE FROM done")
    sink.run((1, "a"), (2, "b"))
    assert (rows(database), done(database)) == ([(1, "a"), (2, "b"), (3, "old")], ["INSERT"])


def test_what_follows_a_refused_piece_is_merged(
    sink: Sink, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_copy, "PIECE", 1000)
    records = [(n, "first") for n in range(1000)]
    records += [(n, "second") for n in (*range(1000, 1999), 0)]
    records += [(n, "third") for n in range(2000, 2500)]
    sink.run(*records)
    assert done(database)[0] == "COPY"
    assert set(done(database)[1:]) == {"INSERT"}
    assert database.execute("SELECT name, count(*) FROM t GROUP BY 1 ORDER BY 1") == [
        ("first", 999),
        ("second", 1000),
        ("third", 500),
    ]


def test_small_pieces_are_not_tried_again(
    sink: Sink, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_copy, "PIECE", 2)
    sink.run(*((n, "a") for n in range(5)))
    assert done(database) == ["COPY", "INSERT"]


def test_large_rows_make_smaller_pieces(
    sink: Sink, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_copy, "_PIECE_BYTES", 100_000)
    sink.run(*((n, "x" * 200) for n in range(3000)))
    assert done(database) == ["COPY", "COPY", "COPY"]


@pytest.mark.parametrize(
    "constraint",
    [
        "",
        "CREATE UNIQUE INDEX ON t (id) WHERE name <> 'x'",
        "CREATE UNIQUE INDEX ON t (abs(id))",
        "CREATE UNIQUE INDEX ON t (id, name)",
        "CREATE INDEX ON t (id)",
    ],
    ids=["none", "partial", "expression", "more columns", "not unique"],
)
def test_table_without_a_unique_key_is_refused(sink: Sink, database: PostgresDatabase, constraint: str) -> None:
    database.execute("ALTER TABLE t DROP CONSTRAINT t_pkey")
    database.execute(constraint or "SELECT 1")
    with pytest.raises(DataError, match="has no unique constraint over exactly the columns of the primary key"):
        sink.run((1, "a"), (1, "b"))
    assert rows(database) == []


def test_deferrable_constraint_is_refused(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t DROP CONSTRAINT t_pkey")
    database.execute("ALTER TABLE t ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED")
    with pytest.raises(DataError, match="deferrable"):
        sink.run((1, "a"))


def test_unique_index_with_further_columns_included_counts(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t DROP CONSTRAINT t_pkey")
    database.execute("CREATE UNIQUE INDEX ON t (id) INCLUDE (name)")
    sink.run((1, "a"))
    assert done(database) == ["COPY"]


def test_key_of_several_columns_in_any_order(database: PostgresDatabase) -> None:
    database.execute("DROP TABLE t")
    database.execute("CREATE TABLE t (name text, id int, PRIMARY KEY (name, id))")
    Sink(database, pk_mode="record_value", pk_fields="id,name").run((1, "a"), (2, "a"))
    assert database.execute("SELECT id, name FROM t ORDER BY 1") == [(1, "a"), (2, "a")]


def test_partitions_of_a_table_refuse_too(database: PostgresDatabase) -> None:
    database.execute("DROP TABLE t")
    database.execute("CREATE TABLE t (id int PRIMARY KEY, name text) PARTITION BY HASH (id)")
    for n in (0, 1):
        database.execute(f"CREATE TABLE t{n} PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER {n})")
    to = Sink(database)
    to.run((1, "a"), (2, "b"))
    to.run((2, "c"), (3, "d"))
    assert rows(database) == [(1, "a"), (2, "c"), (3, "d")]


def test_other_unique_columns_are_an_error(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t ADD CONSTRAINT one_name UNIQUE (name)")
    with pytest.raises(DataError, match=r"records from offset 0 on: a row with that key exists already .*one_name"):
        sink.run((1, "same"), (2, "same"))
    assert rows(database) == []


def test_only_the_last_of_a_key_must_fit(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t ADD CHECK (name <> 'bad')")
    sink.run((1, "bad"), (1, "good"))
    assert rows(database) == [(1, "good")]


def test_missing_values_are_named(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t ALTER name SET NOT NULL")
    with pytest.raises(DataError, match="records from offset 0 on: column name of t must not be null"):
        sink.run((1, "a"), (2, None))


def test_identities_that_no_one_may_set(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("ALTER TABLE t ALTER id ADD GENERATED ALWAYS AS IDENTITY")
    with pytest.raises(DataError, match="cannot insert a non-DEFAULT value into column"):
        sink.run((1, "a"))


def test_rules_are_not_skipped(sink: Sink, database: PostgresDatabase) -> None:
    database.execute("CREATE RULE r AS ON INSERT TO t DO INSTEAD NOTHING")
    sink.run((1, "a"))
    assert rows(database) == []


def test_key_that_another_session_has_just_written(sink: Sink, database: PostgresDatabase) -> None:
    with database.connect() as other:
        other.autocommit = False
        other.execute("INSERT INTO t VALUES (1, 'theirs')")
        later = threading.Timer(1.0, other.commit)
        later.start()
        sink.run((1, "ours"), (2, "b"))
        later.join()
    assert rows(database) == [(1, "ours"), (2, "b")]
    assert done(database)[-1] == "INSERT"
