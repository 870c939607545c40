"""The JDBC source on databases other than PostgreSQL: their types, and those that are read by their JDBC drivers.

Tables go through Spark's reader, without Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError
from airflow_kconnect.connectors.jdbc.driver.connection import Account
from airflow_kconnect.connectors.jdbc.driver.connection import Database as Connection
from airflow_kconnect.connectors.jdbc.driver.gateway import connect
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.facts import registry
from tests.integration.connectors.jdbc.conftest import Poll, SourceConfig
from tests.support.databases.jdbc_databases import H2Database, HsqldbDatabase
from tests.support.databases.servers import Database, DuckDbDatabase, SqliteDatabase


class DerbyDatabase(Database):
    """An embedded database that only lives in Spark's JVM."""

    def connect(self) -> Any:
        return connect(JdbcUrl.parse(self.url), {}, {})

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        connection = self.connect()
        connection.createStatement().execute(sql)
        connection.close()
        return []


@pytest.fixture
def derby(spark: SparkSession, tmp_path: Path) -> DerbyDatabase:
    connect(JdbcUrl.parse(f"jdbc:derby:{tmp_path}/derby;create=true"), {}, {}).close()
    return DerbyDatabase(f"jdbc:derby:{tmp_path}/derby", "derby")


def moves_once(config: dict[str, str], count: int, offset: tuple[int, int], poll: Poll) -> list[dict[str, Any]]:
    """A run moves that many rows and stops at a cursor, and the next one reads nothing.

    :param offset: ms, and nanoseconds.
    :returns: the rows.
    """
    polled = poll(config)
    assert len(polled.rows) == count
    assert list(polled.offsets.values()) == [{"timestamp": offset[0], "timestamp_nanos": offset[1]}]
    assert poll(config, polled.offsets).rows == []
    return polled.rows


def reads_splits_and_then_what_is_new(db: Database, insert: str, config: dict[str, str], poll: Poll) -> None:
    """:param insert: the statement that adds a row to the 300 which there are."""
    first = poll(config)
    db.execute(insert)
    second = poll(config, first.offsets)
    assert (first.splits > 1, second.splits) == (True, 1)
    assert [len(first.rows), len(second.rows)] == [300, 1]
    ids = [row["id"] for row in first.rows + second.rows]
    assert sorted(ids) == list(range(min(ids), min(ids) + 301))


def test_derby_is_read_in_splits_and_then_what_is_new(
    derby: DerbyDatabase, jdbc_source: SourceConfig, poll: Poll
) -> None:
    derby.execute(
        'create table "t" ("id" bigint not null generated always as identity primary key, "d" date, "tm" time,'
        ' "at" timestamp not null, "n" decimal(8, 2), "s" smallint, "x" varchar(20), "b" boolean,'
        ' "y" varchar(4) for bit data)'
    )
    insert = 'insert into "t" ("d", "tm", "at", "n", "s", "x", "b", "y") values '
    values = "('1969-12-31', '23:59:59', '2024-01-01 00:00:00.123456', -1.25, -1, 'ünï', true, X'00FF')"
    for _ in range(3):
        derby.execute(insert + ", ".join([values] * 100))
    config = jdbc_source(derby, **{"split.rows": "100", "table.whitelist": "t"})
    reads_splits_and_then_what_is_new(derby, insert + values, config, poll)
    stamped = {**config, "mode": "timestamp", "timestamp.column.name": "at"}
    assert moves_once(stamped, 301, (1704067200123, 123456000), poll)[-1] == {
        "id": 301, "d": -1, "tm": 86399000, "at": 1704067200123456, "n": "-1.25", "s": -1, "x": "ünï", "b": True,
        "y": b"\0\xff",
    }  # fmt: skip


def test_a_database_that_is_not_known_is_read_by_what_its_driver_says_of_it(
    tmp_path: Path, jdbc_source: SourceConfig, poll: Poll, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = H2Database.create(tmp_path)
    db.execute(
        "create table t (id bigint primary key, tm time, moment timestamp(9) not null, d date,"
        " ts timestamp with time zone)"
    )
    db.execute(
        "insert into t values (1, '23:59:59', '2024-01-01 00:00:00.123456789', '1969-12-31', '2024-01-01 01:00:00+01')"
    )
    monkeypatch.setattr(registry, "_BY_NAME", {})
    config = jdbc_source(db, mode="timestamp", **{"timestamp.column.name": "moment", "table.whitelist": "t"})
    assert moves_once(config, 1, (1704067200123, 123456789), poll) == [
        {"id": 1, "tm": 86399000, "moment": 1704067200123456, "d": -1, "ts": 1704067200000000}
    ]


@pytest.mark.parametrize("other", ["timestamp", pytest.param("date", marks=pytest.mark.exhaustive)])
def test_dates_of_derby_are_cursors(derby: DerbyDatabase, jdbc_source: SourceConfig, poll: Poll, other: str) -> None:
    derby.execute(f'create table "t" ("moment" date not null, "first" {other})')
    derby.execute("insert into \"t\" (\"moment\") values ('2024-01-01'), ('2024-01-02'), ('9999-12-31')")
    config = jdbc_source(derby, mode="timestamp", **{"timestamp.column.name": "first,moment"})
    moves_once(config, 2, (1704153600000, 0), poll)


@pytest.fixture
def in_berlin(spark: SparkSession) -> Iterator[None]:
    """The JVM of Spark is in another zone, which sessions of H2 and HSQLDB take over."""
    jvm: Any = spark.sparkContext._jvm
    before = jvm.java.util.TimeZone.getDefault()
    jvm.java.util.TimeZone.setDefault(jvm.java.util.TimeZone.getTimeZone("Europe/Berlin"))
    yield
    jvm.java.util.TimeZone.setDefault(before)


@pytest.mark.usefixtures("in_berlin")
class TestH2:
    """Its types are those of the SQL standard. At 02:30 on 2026-03-29 there is no such time in Berlin."""

    @pytest.fixture
    def db(self, tmp_path: Path) -> H2Database:
        return H2Database.create(tmp_path)

    def test_types(self, db: H2Database, jdbc_source: SourceConfig, poll: Poll) -> None:
        db.execute(
            "create table kinds (id bigint generated always as identity primary key, at timestamp, tm time,"
            " tms time(9), tmz time(3) with time zone, ts timestamp with time zone, tsn timestamp(9) with time zone,"
            " u uuid, j json, e enum('a', 'b'), f decfloat(5))"
        )
        db.execute(
            "insert into kinds (at, tm, tms, tmz, ts, tsn, u, j, e, f) values ('2026-03-29 02:30:00.123456',"
            " '01:02:03', '23:59:59.999999999', '23:59:59.5+01:30', '2026-03-29 04:30:00.5+02:00',"
            " '0001-01-01 00:00:00.123456789-00:30', '123e4567-e89b-12d3-a456-426614174000', json '{\"a\": [1]}',"
            " 'b', 1.25)"
        )
        db.execute("insert into kinds (tm) values (null)")
        config = jdbc_source(db, **{"table.whitelist": "kinds", "unsupported.columns": "string"})
        full, empty = poll(config).rows
        assert full == {
            "id": 1, "at": 1774751400123456, "tm": 3723000, "tms": 86399999, "tmz": "23:59:59.5+01:30",
            "ts": 1774751400500000, "tsn": -62135594999876544, "u": "123e4567-e89b-12d3-a456-426614174000",
            "j": '{"a":[1]}', "e": "b", "f": "1.25",
        }  # fmt: skip
        assert empty == {**dict.fromkeys(full), "id": 2}

    @pytest.mark.parametrize(
        ("type_", "value", "offset"),
        [
            ("timestamp(9)", "'2024-01-01 00:00:00.123456789'", (1704067200123, 123456789)),
            pytest.param(
                "timestamp with time zone",
                "'2026-03-29 04:30:00.5+02:00'",
                (1774751400500, 500000000),
                marks=pytest.mark.exhaustive,
            ),
            pytest.param("date", "'2024-01-02'", (1704153600000, 0), marks=pytest.mark.exhaustive),
        ],
    )
    def test_cursors(
        self, db: H2Database, jdbc_source: SourceConfig, poll: Poll, type_: str, value: str, offset: tuple[int, int]
    ) -> None:
        db.execute(f"create table t (moment {type_} not null)")
        db.execute(f"insert into t values ({value}), (current_timestamp + interval '2' day)")
        config = jdbc_source(db, mode="timestamp", **{"timestamp.column.name": "moment", "table.whitelist": "t"})
        moves_once(config, 1, offset, poll)

    def test_times_that_the_zone_of_the_job_leaves_out_are_known_by_any_driver_of_today(self, db: H2Database) -> None:
        url = JdbcUrl.parse(db.url)
        with closing(Connection(lambda: connect(url, {}, {}), Account("c", url.shown, "other"))) as connection:
            assert connection.rows("select timestamp '2026-03-29 02:30:00'") == [("2026-03-29T02:30",)]

    @pytest.mark.exhaustive
    def test_a_timestamp_that_is_not_read_is_an_error_that_names_its_column(
        self, db: H2Database, jdbc_source: SourceConfig, poll: Poll
    ) -> None:
        db.execute("create table t (id bigint primary key, at timestamp with time zone)")
        db.execute("insert into t values (1, '999999-01-01 00:00:00+00:00')")
        config = jdbc_source(db, mode="bulk", **{"table.whitelist": "t"})
        with pytest.raises(ConnectError, match=r"t\.at has a value that is not"):
            poll(config)


@pytest.mark.usefixtures("in_berlin")
class TestHsqldb:
    """Its clocks show 02:30 on 2026-03-29, when those of Berlin do not."""

    @pytest.fixture
    def db(self, tmp_path: Path) -> HsqldbDatabase:
        return HsqldbDatabase.create(tmp_path)

    def test_types(self, db: HsqldbDatabase, jdbc_source: SourceConfig, poll: Poll) -> None:
        db.execute(
            'create table "kinds" ("id" bigint generated always as identity primary key, "t" tinyint, "s" smallint,'
            ' "n" decimal(8, 2), "f" real, "b" boolean, "bit" bit, "d" date, "tm" time(3), "at" timestamp,'
            ' "old" timestamp(3), "ts" timestamp(9) with time zone, "c" char(3), "x" longvarchar, "cl" clob,'
            ' "y" varbinary(4), "bl" blob, "u" uuid, "i" interval day to second, "unknown" bit(3), "tz" time)'
        )
        db.execute(
            "insert into \"kinds\" values (default, -128, -1, -1.25, 1.5, true, B'1', '1969-12-31', '23:59:59.999',"
            " '2026-03-29 02:30:00.123456', '0001-01-01 00:00:00', timestamp '2026-03-29 02:30:00.5+00:00', 'a',"
            " 'ünï', 'long', X'00FF', X'FF00', UUID('123e4567-e89b-12d3-a456-426614174000'),"
            " interval '1 02:03:04' day to second, B'101', '01:02:03')"
        )
        db.execute('insert into "kinds" ("t") values (null)')
        config = jdbc_source(db, **{"table.whitelist": "kinds", "unsupported.columns": "string"})
        full, empty = poll(config).rows
        assert full == {
            "id": 0, "t": -128, "s": -1, "n": "-1.25", "f": "1.5", "b": True, "bit": 1, "d": -1, "tm": 86399999,
            "at": 1774751400123456, "old": -62135596800000000, "ts": 1774751400500000, "c": "a  ", "x": "ünï",
            "cl": "long", "y": b"\0\xff", "bl": b"\xff\0", "u": "123e4567-e89b-12d3-a456-426614174000",
            "i": "1 02:03:04.000000", "unknown": "101", "tz": 3723000,
        }  # fmt: skip
        assert empty == {**dict.fromkeys(full), "id": 1}

    @pytest.mark.exhaustive
    def test_a_table_is_read_in_splits_and_then_what_is_new(
        self, db: HsqldbDatabase, jdbc_source: SourceConfig, poll: Poll
    ) -> None:
        db.execute('create table "t" ("id" bigint generated always as identity primary key, "x" varchar(9))')
        insert = 'insert into "t" ("x") values '
        db.execute(insert + ", ".join(["('a')"] * 300))
        config = jdbc_source(db, **{"split.rows": "100", "table.whitelist": "t"})
        reads_splits_and_then_what_is_new(db, f"{insert} ('b')", config, poll)

    @pytest.mark.parametrize(
        ("type_", "value", "offset"),
        [
            ("timestamp with time zone", "timestamp '2026-03-29 04:30:00.5+02:00'", (1774751400500, 500000000)),
            pytest.param(
                "timestamp(9)",
                "'2026-03-29 02:30:00.123456789'",
                (1774751400123, 123456789),
                marks=pytest.mark.exhaustive,
            ),
            pytest.param("date", "'2026-03-29'", (1774742400000, 0), marks=pytest.mark.exhaustive),
        ],
    )
    def test_cursors(
        self, db: HsqldbDatabase, jdbc_source: SourceConfig, poll: Poll, type_: str, value: str, offset: tuple[int, int]
    ) -> None:
        db.execute(f'create table "t" ("moment" {type_} not null)')
        db.execute(f'insert into "t" values ({value})')
        config = jdbc_source(db, mode="timestamp", **{"timestamp.column.name": "moment", "table.whitelist": "t"})
        moves_once(config, 1, offset, poll)

    @pytest.mark.exhaustive
    def test_timestamps_up_to_this_moment_are_read(
        self, db: HsqldbDatabase, jdbc_source: SourceConfig, poll: Poll
    ) -> None:
        db.execute('create table "t" ("moment" timestamp with time zone not null)')
        db.execute('insert into "t" values (current_timestamp - 5 second), (current_timestamp + 10 minute)')
        config = jdbc_source(db, mode="timestamp", **{"timestamp.column.name": "moment", "table.whitelist": "t"})
        assert len(poll(config).rows) == 1

    def test_a_table_that_is_not_there(self, db: HsqldbDatabase, jdbc_source: SourceConfig, poll: Poll) -> None:
        config = jdbc_source(db, mode="bulk", query='select * from "missing"')
        with pytest.raises(ConnectError, match="object not found: missing"):
            poll(config)


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize("kind", [H2Database, pytest.param(HsqldbDatabase, marks=pytest.mark.exhaustive)])
def test_a_cursor_of_columns_of_different_types(
    kind: type[H2Database | HsqldbDatabase], tmp_path: Path, jdbc_source: SourceConfig, poll: Poll
) -> None:
    db = kind.create(tmp_path)
    db.execute('create table "t" ("made" date not null, "at" timestamp, "changed" timestamp with time zone)')
    for values in (
        "'2024-01-02', null, null",
        "'2024-01-01', '2024-01-02 00:00:00.5', null",
        "'2024-01-01', '2024-01-01 00:00:00', '2024-01-02 01:00:01+01:00'",
    ):
        db.execute(f'insert into "t" values ({values})')
    names = {"timestamp.column.name": "changed,at,made", "table.whitelist": "t"}
    config = jdbc_source(db, mode="timestamp", **names)
    offsets: dict[str, Offset] = {}
    for moment in (1704153600000, 1704153600500, 1704153601000):
        polled = poll(config, offsets, max_records=1)
        offsets = polled.offsets
        assert len(polled.rows) == 1
        assert [offset["timestamp"] for offset in offsets.values()] == [moment]
    assert poll(config, offsets).rows == []


def test_a_file_that_is_missing_is_told_and_not_made(tmp_path: Path, jdbc_source: SourceConfig, poll: Poll) -> None:
    with pytest.raises(ConfigError, match=r"connection\.url.*none\.db"):
        poll(jdbc_source(SqliteDatabase(f"jdbc:sqlite:{tmp_path}/none.db", "none")))
    assert not list(tmp_path.iterdir())


def test_a_cursor_of_sqlite_that_is_not_a_timestamp_fails_the_run(
    tmp_path: Path, jdbc_source: SourceConfig, poll: Poll
) -> None:
    database = SqliteDatabase.create(tmp_path)
    database.execute("create table t (moment timestamp not null)")
    database.execute("insert into t values ('2026-11-27'), ('27.11.2026')")
    config = jdbc_source(database, mode="timestamp", **{"timestamp.column.name": "moment"})
    with pytest.raises(DataError, match="t has 1 rows in which moment has a value that is not a timestamp"):
        poll(config)


def test_sqlite_file_that_another_process_has_locked_is_tried_again(
    tmp_path: Path, jdbc_source: SourceConfig, poll: Poll
) -> None:
    database = SqliteDatabase.create(tmp_path)
    database.execute("create table t (id integer primary key)")
    with closing(database.connect()) as other, pytest.raises(RetriableError, match="SQLITE_BUSY"):
        other.execute("begin exclusive")
        poll(jdbc_source(database, **{"connection.busy_timeout": "100"}))


def test_a_query_of_duckdb_reads_no_files(tmp_path: Path, jdbc_source: SourceConfig, poll: Poll) -> None:
    db = DuckDbDatabase.create(tmp_path)
    (tmp_path / "secret.txt").write_text("geheim")
    query = f"select content from read_text('{tmp_path}/secret.txt')"
    config = jdbc_source(db, query=query, mode="bulk")
    with pytest.raises(ConnectError, match="disabled by configuration") as caught:
        poll(config)
    assert "geheim" not in str(caught.value)


def test_a_duckdb_table_is_read_in_splits_and_then_what_is_new(
    tmp_path: Path, jdbc_source: SourceConfig, poll: Poll
) -> None:
    db = DuckDbDatabase.create(tmp_path)
    db.execute("create sequence numbers")
    db.execute("create table t (id bigint primary key default nextval('numbers'), moment timestamp not null)")
    insert = "insert into t (moment) select timestamp '2024-01-01' + to_microseconds(i) from range({}) n(i)"
    db.execute(insert.format(300))
    config = jdbc_source(db, **{"split.rows": "100"})
    reads_splits_and_then_what_is_new(db, insert.format(1), config, poll)
    stamped = {**config, "mode": "timestamp", "timestamp.column.name": "moment"}
    moves_once(stamped, 301, (1704067200000, 299000), poll)


def test_a_duckdb_file_that_another_process_has_open_is_tried_again(
    tmp_path: Path, jdbc_source: SourceConfig, poll: Poll
) -> None:
    database = DuckDbDatabase.create(tmp_path)
    database.execute("create table t (id bigint primary key)")
    with closing(database.connect()), pytest.raises(RetriableError, match="Could not set lock"):
        poll(jdbc_source(database))
