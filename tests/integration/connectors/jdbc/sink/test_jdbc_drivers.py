"""JDBC sinks into databases without a Python driver: Derby and HSQLDB, where upserts are two statements, and all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, struct
from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RefusedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.databases.plain.writing import PlainTarget
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, COORDINATES
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.local.ports import free_port
from tests.integration.connectors.jdbc.sink.test_values import VALUE
from tests.support import unique
from tests.support.databases.jdbc_databases import DerbyDatabase, H2Database, HsqldbDatabase, JdbcDatabase
from tests.support.databases.jdbc_sink import Record, Sink, frame_of

ROW = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA))
KEY = struct(("id", INT32_SCHEMA))
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true", "auto.create": "true"}


@pytest.fixture(scope="module")
def derby() -> DerbyDatabase:
    """For all tests, which have tables of their own."""
    return DerbyDatabase.create()


@pytest.fixture(scope="module")
def hsqldb(tmp_path_factory: pytest.TempPathFactory) -> HsqldbDatabase:
    """The same."""
    return HsqldbDatabase.create(tmp_path_factory.mktemp("hsqldb"))


@pytest.fixture(params=["derby", pytest.param("hsqldb", marks=pytest.mark.exhaustive)])
def db(request: pytest.FixtureRequest) -> JdbcDatabase:
    """One of them: by name of the fixture."""
    database: JdbcDatabase = request.getfixturevalue(request.param)
    return database


@pytest.fixture
def name() -> str:
    return unique("t")


@pytest.fixture
def sink(spark: SparkSession, db: JdbcDatabase, name: str) -> Any:
    """Makes a sink into a table of this test's own."""

    def make(*, tolerant: bool = False, **keys: str) -> Sink:
        config = {**db.config, "table.name.format": name, "offsets.table": f"offsets_of_{name}", **keys}
        return Sink(spark, config, tolerant=tolerant)

    return make


@pytest.fixture
def table(db: JdbcDatabase, name: str) -> Any:
    """Reads the table."""
    return lambda: db.execute(f'SELECT * FROM "{name}" ORDER BY 1')


def row(number: int, text: str | None) -> Record:
    return Record((number, text), ROW, (number,), KEY)


def tombstone(number: int) -> Record:
    return Record(key=(number,), key_schema=KEY)


class TestUpdatesAndInserts:
    def test_upserts_and_deletions(self, sink: Any, table: Any) -> None:
        to = sink(**UPSERT)
        to.run(row(1, "a"), row(2, "b"), row(1, "c"), tombstone(2), row(3, "d"))
        to.run(row(3, "e"), row(4, "f"), tombstone(9), first=5)
        assert table() == [(1, "c"), (3, "e"), (4, "f")]

    def test_updates(self, sink: Any, table: Any) -> None:
        sink(**UPSERT).run(row(1, "a"))
        sink(**{**UPSERT, "insert.mode": "update"}).run(row(1, "b"), row(2, "c"), first=1)
        assert table() == [(1, "b")]

    def test_only_key_columns(self, sink: Any, table: Any) -> None:
        sink(**UPSERT).run(Record((1,), KEY, (1,), KEY), Record((1,), KEY, (1,), KEY))
        assert table() == [(1,)]

    def test_more_rows_than_a_batch(self, sink: Any, db: JdbcDatabase, name: str) -> None:
        to = sink(**UPSERT)
        to.run(*(row(n, "a") for n in range(2500)))
        to.run(*(row(n, "b") for n in range(1000, 3500)), first=2500)
        assert db.execute(f'SELECT count(*), min("name") FROM "{name}" WHERE "id" >= 1000') == [(2500, "b")]

    def test_values_of_every_type(self, sink: Any, table: Any) -> None:
        moment = datetime(2021, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
        plain = ("ü\\\n'x", b"\0\xff\\", Decimal("12345.678900"), 1.5, 0.25, -(2**63), -128, True, date(2021, 3, 4))
        sink(**{"auto.create": "true"}).run(
            Record((*plain, 3_723_000, moment), VALUE), Record((None,) * 11, VALUE), first=0
        )
        full, empty = sorted(table(), key=lambda values: values[0] is None)
        assert empty == (None,) * 11
        assert full == (*plain, time(1, 2, 3), moment.replace(tzinfo=None))

    def test_rows_that_it_refuses_are_told_without_their_values(
        self, sink: Any, db: JdbcDatabase, name: str, table: Any
    ) -> None:
        db.execute(f'CREATE TABLE "{name}" ("id" INT PRIMARY KEY, "name" VARCHAR(5) NOT NULL)')
        to = sink(tolerant=True, **UPSERT)
        to.run(row(1, "a"), row(2, "too long canary"), row(3, "c"), row(4, None), row(3, "d"))
        assert (sorted(to.refused), table()) == ([1, 3], [(1, "a"), (3, "d")])
        assert f"table {name}, records from offset 1 on: a value does not fit" in to.refused[1]
        assert "column name must not be null" in to.refused[3]
        assert "canary" not in to.refused[1]

    def test_columns_are_added_on_the_way(self, sink: Any, table: Any) -> None:
        wide = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("more", OPTIONAL_STRING_SCHEMA))
        to = sink(**UPSERT, **{"auto.evolve": "true"})
        to.run(row(1, "a"), Record((2, "b", "x"), wide, (2,), KEY), row(3, "c"))
        assert table() == [(1, "a", None), (2, "b", "x"), (3, "c", None)]

    def test_a_table_without_the_key_is_named(self, sink: Any, db: JdbcDatabase, name: str) -> None:
        db.execute(f'CREATE TABLE "{name}" ("id" INT, "name" VARCHAR(5))')
        with pytest.raises(DataError, match=f"table {name}: .* over exactly the columns of the primary key"):
            sink(**UPSERT).run(row(1, "a"))


@pytest.mark.parametrize("db", ["derby"], indirect=True)
class TestDerby:
    def test_milliseconds_that_a_time_cannot_keep_are_refused(self, sink: Any, table: Any) -> None:
        with pytest.raises(RefusedError, match="a value does not fit into its column"):
            sink(**{"auto.create": "true"}).run(Record((None,) * 9 + (3_723_004, None), VALUE))
        assert table() == []

    def test_a_row_that_another_session_holds_is_a_reason_to_try_again(
        self, sink: Any, db: JdbcDatabase, name: str
    ) -> None:
        sink(**UPSERT).run(row(1, "a"))
        db.execute("CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.locks.waitTimeout', '1')")
        other = db.connect()
        other.java.setAutoCommit(False)
        other.cursor().execute(f'UPDATE "{name}" SET "name" = \'x\'')
        with pytest.raises(RetriableError, match="unavailable or busy"):
            sink(**UPSERT).run(row(1, "b"), first=1)
        other.close()


@pytest.mark.parametrize("db", ["hsqldb"], indirect=True)
class TestHsqldb:
    def test_values_of_every_type(self, sink: Any, table: Any) -> None:
        moment = datetime(2021, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
        plain = ("ü\\\n'x" * 3000, b"\0\xff\\", Decimal("9" * 32 + ".678901"), 1.5, 0.25, -(2**63), -128, False)
        sink(**{"auto.create": "true"}).run(
            Record((*plain, date(1500, 2, 3), 3_723_004, moment), VALUE), Record((None,) * 11, VALUE)
        )
        full, empty = sorted(table(), key=lambda values: values[0] is None)
        assert empty == (None,) * 11
        assert full == (*plain, date(1500, 2, 3), time(1, 2, 3, 4000), moment.replace(tzinfo=None))

    @pytest.mark.parametrize(("type_", "largest"), [("TINYINT", 127), ("SMALLINT", 32767)])
    def test_numbers_that_are_too_large_for_their_column_are_refused(
        self, sink: Any, db: JdbcDatabase, name: str, table: Any, type_: str, largest: int
    ) -> None:
        db.execute(f'CREATE TABLE "{name}" ("id" {type_})')
        to = sink(tolerant=True)
        to.run(*(Record((number,), KEY) for number in (largest, largest + 1, 2**17, -largest - 1, -largest - 2)))
        assert sorted(to.refused) == [1, 2, 4]
        assert table() == [(-largest - 1,), (largest,)]

    def test_keys_may_be_long(self, sink: Any, db: JdbcDatabase, name: str) -> None:
        value, key = struct(("number", INT32_SCHEMA)), "k" * 30_000
        to = sink(**{**UPSERT, "pk.fields": "code"})
        to.run(Record((1,), value, key, STRING_SCHEMA))
        to.run(Record((2,), value, key, STRING_SCHEMA), first=1)
        assert db.execute(f'SELECT "code", "number" FROM "{name}"') == [(key, 2)]

    def test_tables_of_other_schemas(self, sink: Any, db: JdbcDatabase, name: str) -> None:
        db.execute(f'CREATE SCHEMA "s_{name}"')
        to = sink(**{**UPSERT, "table.name.format": f"s_{name}.{name}"})
        to.run(row(1, "a"))
        to.run(row(1, "b"), first=1)
        assert db.execute(f'SELECT * FROM "s_{name}"."{name}"') == [(1, "b")]
        with pytest.raises(DataError, match=r"allows 2: set `table\.name\.format`"):
            sink(**{**UPSERT, "table.name.format": f"PUBLIC.s_{name}.{name}"}).run(row(1, "c"), first=2)

    def test_of_two_sessions_that_wait_for_each_other_one_is_told_to_try_again(
        self, sink: Any, db: JdbcDatabase, name: str
    ) -> None:
        target = sink().connector()._target
        for letter in "ab":
            db.execute(f'CREATE TABLE "{letter}_{name}" ("id" INT)')
        first, second = db.connect(), db.connect()
        for connection, letter in ((first, "a"), (second, "b")):
            connection.java.setAutoCommit(False)
            connection.cursor().execute(f'INSERT INTO "{letter}_{name}" VALUES (1)')
        with ThreadPoolExecutor(1) as others:
            waiting = others.submit(first.cursor().execute, f'INSERT INTO "b_{name}" VALUES (1)')
            with pytest.raises(TimeoutError):
                waiting.result(0.5)
            with pytest.raises(RetriableError, match="unavailable or busy: transaction rollback"), target.errors("x"):
                second.cursor().execute(f'INSERT INTO "a_{name}" VALUES (1)')
            waiting.result(30)
        for connection in (first, second):
            connection.close()

    @pytest.mark.parametrize(
        ("problem", "keys"),
        [
            (r"cannot log in to jdbc:hsqldb:\S+ as nobody: ", {"connection.user": "nobody"}),
            (r"cannot log in to jdbc:hsqldb:\S+ as SA: ", {"connection.user": "SA"}),
            ("alias does not exist", {"connection.url": "{url}_none"}),
        ],
    )
    def test_logins_and_databases_that_are_wrong(
        self, sink: Any, db: JdbcDatabase, problem: str, keys: dict[str, str]
    ) -> None:
        keys = {key: text.format(url=db.url) for key, text in keys.items()}
        with pytest.raises(ConfigError, match=problem) as raised:
            sink(**{"connection.password": "S3cr3t-canary", **keys}).run()
        assert "S3cr3t" not in str(raised.value)

    def test_a_server_that_is_unavailable(self, sink: Any) -> None:
        keys = {"connection.url": f"jdbc:hsqldb:hsql://127.0.0.1:{free_port()}/x", "connection.attempts": "1"}
        with pytest.raises(RetriableError, match=r"connecting to jdbc:hsqldb://127"):
            sink(**keys).run()


def test_keys_that_only_the_database_takes_for_equal(spark: SparkSession) -> None:
    derby = DerbyDatabase.create(";territory=en;collation=TERRITORY_BASED:PRIMARY")
    value = struct(("number", INT32_SCHEMA))
    records = [Record((n,), value, key, STRING_SCHEMA) for n, key in enumerate(["a", "b", "A", "c"])]
    Sink(spark, {**derby.config, **UPSERT, "pk.fields": "code"}).run(*records)
    assert derby.execute('SELECT "code", "number" FROM "t" ORDER BY 1') == [("a", 2), ("b", 1), ("c", 3)]


@pytest.mark.parametrize(
    "kind",
    [
        H2Database.create,
        lambda folder: DerbyDatabase.create(),
        HsqldbDatabase.create,
        pytest.param(lambda folder: HsqldbDatabase.create(folder, ";hsqldb.tx=mvcc"), marks=pytest.mark.exhaustive),
    ],
    ids=["h2", "derby", "hsqldb", "hsqldb by rows"],
)
def test_a_run_that_commits_while_a_newer_one_takes_over_is_fenced(
    spark: SparkSession, tmp_path: Path, kind: Callable[[Path], JdbcDatabase]
) -> None:
    """The older one's update of its offset waits for the newer run's, and then finds another owner."""
    database = kind(tmp_path)
    to, place = Sink(spark, {**database.config, "auto.create": "true"}), TopicPartition("t", 0)
    to.run(row(0, "before"))
    older = to.connector()
    older.take_over([place])
    (rows,) = older.render(frame_of(spark, [row(1, "older")], 1)).toArrow().to_batches()
    writer = older.writer()
    writer.open(SinkSplit("t", 0, 1, 2))
    writer.write(rows)
    newer = database.connect()
    newer.java.setAutoCommit(False)
    newer.cursor().execute('UPDATE "kconnect_offsets" SET "run" = ?', ("newer",))
    with ThreadPoolExecutor(1) as others:
        closed = others.submit(writer.close, 2)
        with pytest.raises(TimeoutError):
            closed.result(0.5)
        newer.commit()
        with pytest.raises(FencedError, match="t-0 belongs to another run"):
            closed.result(30)
    writer.abort()
    newer.close()
    assert database.execute('SELECT "id" FROM "t"') == [(0,)]
    assert database.execute('SELECT "next_offset" FROM "kconnect_offsets"') == [(1,)]


class TestEveryDriver:
    @pytest.fixture
    def h2(self, tmp_path: Path) -> H2Database:
        return H2Database.create(tmp_path)

    def test_a_table_that_another_user_makes_at_the_same_moment(
        self, spark: SparkSession, h2: H2Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing is there when the sink looks, and everything when it makes it."""
        to = Sink(spark, {**h2.config, **UPSERT})
        to.run(row(1, "a"))
        original, seen = PlainTarget.existing_columns, set()

        def late(target: PlainTarget, connection: JdbcConnection, table: Table) -> list[str] | None:
            if table not in seen:
                seen.add(table)
                return None
            return original(target, connection, table)

        monkeypatch.setattr(PlainTarget, "existing_columns", late)
        assert to.run(row(2, "b"), first=1) == {TopicPartition("t", 0): 1}
        assert h2.execute("SELECT id FROM t ORDER BY 1") == [(1,), (2,)]

    def test_a_class_that_is_not_in_the_jars(self, spark: SparkSession, h2: H2Database) -> None:
        keys = {CLASS: "org.h2.Missing", COORDINATES: "com.h2database:h2:2.4.240"}
        with pytest.raises(ConfigError, match=rf"sink is invalid: `{CLASS}`: org.h2.Missing is not in h2-2.4.240.jar"):
            Sink(spark, {**h2.config, **keys}).run()

    def test_a_class_that_is_not_a_driver(self, spark: SparkSession, h2: H2Database) -> None:
        keys = {CLASS: "org.h2.tools.Server", COORDINATES: "com.h2database:h2:2.4.240"}
        with pytest.raises(ConfigError, match="is not a JDBC driver"):
            Sink(spark, {**h2.config, **keys}).run()

    def test_a_driver_of_another_database(self, spark: SparkSession, h2: H2Database) -> None:
        keys = {CLASS: "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
        with pytest.raises(ConfigError, match=r"does not know the URL jdbc:h2:"):
            Sink(spark, {**h2.config, **keys}).run()

    def test_a_wrong_password(self, spark: SparkSession, h2: H2Database) -> None:
        h2.execute("CREATE USER writer PASSWORD 'right'")
        keys = {"connection.user": "writer", "connection.password": "S3cr3t-canary"}
        with pytest.raises(
            ConfigError, match=r"connection\.password.*cannot log in to jdbc:h2:\S+ as writer: "
        ) as raised:
            Sink(spark, {**h2.config, **keys}).run()
        assert "S3cr3t" not in str(raised.value)

    def test_a_server_that_is_unavailable(self, spark: SparkSession) -> None:
        keys = {"connection.url": "jdbc:h2:tcp://127.0.0.1:9/x", "connection.attempts": "1"}
        with pytest.raises(RetriableError, match=r"connecting to jdbc:h2://127\.0\.0\.1:9/x"):
            Sink(spark, keys).run()

    def test_a_database_that_is_not_there(self, spark: SparkSession, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"connection\.url"):
            Sink(spark, {"connection.url": f"jdbc:h2:{tmp_path}/none;IFEXISTS=TRUE"}).run()
