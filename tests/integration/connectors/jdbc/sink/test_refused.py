"""JDBC sinks that may continue without rows that the database refuses (``errors.tolerance=all``)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, struct
from airflow_kconnect.connect.errors import ConfigError, DataError, RefusedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from tests.support.databases.jdbc_sink import Record, Sink
from tests.support.databases.mariadb import MariaDatabase, MariaServer
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.servers import Database

ROW = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA))
KEY = struct(("id", INT32_SCHEMA))
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key"}
TABLE = "create table t (id integer primary key, name varchar(5) not null)"


def row(number: int, name: str | None) -> Record:
    return Record((number, name), ROW, (number,), KEY)


def rows(database: Database) -> list[tuple[Any, ...]]:
    return database.execute("select * from t order by 1")


@pytest.fixture
def tolerant(spark: SparkSession, each_database: Database) -> Any:
    """Makes a sink into a table whose names must not be null."""
    each_database.execute(TABLE)

    def make(**config: str) -> Sink:
        return Sink(spark, {**each_database.config, **config}, tolerant=True)

    return make


class TestEveryDatabase:
    @pytest.mark.every_database
    def test_the_others_are_written_and_it_is_told_which_and_why(self, tolerant: Any, each_database: Database) -> None:
        sink = tolerant(**UPSERT)
        sink.run(row(1, "a"), row(2, None), row(3, "c"), row(4, None), first=10)
        assert rows(each_database) == [(1, "a"), (3, "c")]
        assert list(sink.refused) == [11, 13]
        assert "table t" in sink.refused[11]

    @pytest.mark.every_database
    def test_keys_that_are_there_already_are_refused(self, tolerant: Any, each_database: Database) -> None:
        sink = tolerant(**{"pk.mode": "record_key"})
        sink.run(row(1, "a"), row(1, "b"), row(2, "c"))
        assert (list(sink.refused), rows(each_database)) == ([1], [(1, "a"), (2, "c")])

    def test_the_last_good_row_of_a_key_wins(self, tolerant: Any, each_database: Database) -> None:
        tolerant(**UPSERT).run(row(1, "a"), row(1, "b"), row(1, None), row(2, "c"), row(2, "d"))
        assert rows(each_database) == [(1, "b"), (2, "d")]

    def test_deletions_keep_their_place(self, tolerant: Any, each_database: Database) -> None:
        gone = Record(key=(1,), key_schema=KEY)
        sink = tolerant(**UPSERT, **{"delete.enabled": "true"})
        sink.run(row(1, "a"), row(2, None), gone, row(2, "b"), row(1, None))
        assert (list(sink.refused), rows(each_database)) == ([1, 4], [(2, "b")])

    def test_offsets_move_beyond_them(self, tolerant: Any) -> None:
        tolerant(**UPSERT).run(row(1, None), row(2, None))
        assert tolerant(**UPSERT).run(row(3, "c"), first=2) == {TopicPartition("t", 0): 2}

    def test_without_tolerance_they_end_the_split(self, tolerant: Any, each_database: Database) -> None:
        sink = tolerant(**UPSERT)
        sink.tolerant = False
        with pytest.raises(RefusedError):
            sink.run(row(1, "a"), row(2, None))
        assert rows(each_database) == []

    def test_what_is_wrong_with_the_table_is_not_a_bad_record(self, tolerant: Any) -> None:
        with pytest.raises(DataError, match=r"table missing"):
            tolerant(**UPSERT, **{"table.name.format": "missing"}).run(row(1, "a"))


class TestPostgres:
    @pytest.fixture
    def database(self, postgres: PostgresServer) -> PostgresDatabase:
        found = postgres.create_database()
        found.execute(TABLE)
        return found

    @pytest.fixture
    def sink(self, spark: SparkSession, database: PostgresDatabase) -> Sink:
        return Sink(spark, {**database.config, **UPSERT}, tolerant=True)

    def test_few_among_many(self, sink: Sink, database: PostgresDatabase) -> None:
        bad = {0, 1234, 1235, 2999}
        sink.run(*(row(n, "too long" if n in bad else "good") for n in range(3000)))
        assert set(sink.refused) == bad
        assert database.execute("select count(*), max(name) from t") == [(2996, "good")]

    def test_values_are_not_shown(self, sink: Sink) -> None:
        sink.run(row(1, "canary"))
        assert "canary" not in sink.refused[0]

    def test_texts_that_the_column_does_not_take(self, spark: SparkSession, database: PostgresDatabase) -> None:
        database.execute("create table numbers (id integer primary key, name integer)")
        sink = Sink(spark, {**database.config, **UPSERT, "table.name.format": "numbers"}, tolerant=True)
        sink.run(row(1, "1"), row(2, "two"), row(3, "3"))
        assert database.execute("select id, name from numbers order by 1") == [(1, 1), (3, 3)]

    def test_a_trigger_that_refuses_rows(self, sink: Sink, database: PostgresDatabase) -> None:
        database.execute(
            "create function refuse() returns trigger language plpgsql as"
            " $$ begin if new.id = 2 then raise check_violation; end if; return new; end $$;"
            " create trigger refuse before insert on t for each row execute function refuse()"
        )
        sink.run(row(1, "a"), row(2, "b"), row(3, "c"))
        assert rows(database) == [(1, "a"), (3, "c")]

    def test_rows_that_are_too_long_for_an_index(self, spark: SparkSession, database: PostgresDatabase) -> None:
        database.execute("create table long (id integer primary key, name text); create index on long (name)")
        sink = Sink(spark, {**database.config, **UPSERT, "table.name.format": "long"}, tolerant=True)
        noise = "".join(sha256(str(n).encode()).hexdigest() for n in range(500))
        sink.run(row(1, "a"), row(2, noise), row(3, "c"))
        assert (list(sink.refused), database.execute("select id from long order by 1")) == ([1], [(1,), (3,)])

    def test_a_database_that_takes_no_writes_now_is_tried_again(self, sink: Sink, database: PostgresDatabase) -> None:
        database.execute(f"alter database {database.name} set default_transaction_read_only = on")
        with pytest.raises(RetriableError, match="takes no writes now"):
            sink.run(row(1, "a"))

    def test_rights_that_are_missing_end_the_run(
        self, spark: SparkSession, postgres: PostgresServer, database: PostgresDatabase
    ) -> None:
        user = f"reader_{database.name}"
        database.execute(f"create role {user} login password 'x'; grant select on t to {user}")
        config = {**database.config, **UPSERT, "connection.user": user, "connection.password": "x"}
        with pytest.raises(DataError, match="permission denied"):
            Sink(spark, {**config, "offsets.table": ""}, tolerant=True).run(row(1, "a"))


class TestMariaDb:
    @pytest.fixture
    def database(self, mariadb: MariaServer) -> MariaDatabase:
        return mariadb.create_database()

    def test_rows_that_are_larger_than_a_packet(
        self, spark: SparkSession, mariadb: MariaServer, database: MariaDatabase
    ) -> None:
        database.execute("create table t (id integer primary key, name longtext)")
        ((limit,),) = mariadb.execute("select @@global.max_allowed_packet")
        mariadb.execute("set global max_allowed_packet = 65536")
        try:
            sink = Sink(spark, {**database.config, **UPSERT}, tolerant=True)
            sink.run(*(row(n, "x" * 30_000) for n in range(10)), row(10, "'" * 40_000), row(11, "x" * 70_000))
        finally:
            mariadb.execute(f"set global max_allowed_packet = {limit}")
        assert (list(sink.refused), len(rows(database))) == ([10, 11], 10)
        assert "max_allowed_packet" in sink.refused[10]

    def test_a_value_that_does_not_fit_names_its_column(self, spark: SparkSession, database: MariaDatabase) -> None:
        database.execute("create table t (id integer primary key, name date, other varchar(9) character set latin1)")
        sink = Sink(spark, {**database.config, **UPSERT}, tolerant=True)
        sink.run(row(1, "for column `a`.`secret`"))
        other = struct(("id", INT32_SCHEMA), ("other", OPTIONAL_STRING_SCHEMA))
        sink.run(Record((2, "\N{GRINNING FACE}"), other, (2,), KEY), first=1)
        wrong_date, wrong_text = sink.refused[0], sink.refused[1]
        assert "a value does not fit into column name (error 1292)" in wrong_date
        assert "secret" not in wrong_date
        assert "into column other (error 1366): its character set does not have all characters" in wrong_text

    def test_a_table_without_transactions_cannot_be_exactly_once(
        self, spark: SparkSession, database: MariaDatabase
    ) -> None:
        database.execute("create table t (id integer primary key, name text) engine=MyISAM")
        with pytest.raises(ConfigError, match="MyISAM, which has no transactions"):
            Sink(spark, {**database.config, **UPSERT}).run(row(1, "a"))
        Sink(spark, {**database.config, **UPSERT, "offsets.table": ""}).run(row(1, "a"))
        assert rows(database) == [(1, "a")]
