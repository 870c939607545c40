"""Transactions that commit after later ones: nothing of them is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from airflow_kconnect.runs.warnings import Kind, kind_of
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer

_SHORT = {"late.commits.wait.ms": "200"}
_TIMESTAMP = {"mode": "timestamp", "timestamp.column.name": "at", **_SHORT}

Begin = Callable[..., Any]


@pytest.fixture
def begin(db: PostgresDatabase) -> Iterator[Begin]:
    """Opens a transaction with some SQL in it; `commit()` ends it."""
    opened: list[Any] = []

    def start(*statements: str) -> Any:
        connection = db.connect()
        connection.autocommit = False
        opened.append(connection)
        for statement in statements:
            connection.execute(statement)
        return connection

    yield start
    for connection in opened:
        connection.close()


@pytest.fixture
def table(db: PostgresDatabase) -> None:
    db.execute("create table t (id bigserial primary key, at timestamptz not null default now())")


def _wait_for_ids(db: PostgresDatabase, *ids: int) -> None:
    for _ in range(300):
        if db.execute("select id from t order by id") == [(number,) for number in ids]:
            return
        time.sleep(0.1)
    raise TimeoutError("the subscription does not bring the rows")


def _ids(found: list[dict[str, Any]]) -> list[int]:
    return [row["id"] for row in found]


@pytest.mark.usefixtures("table")
class TestNumbers:
    def test_table_is_left_alone_while_a_lower_number_can_still_be_committed(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        late = begin("insert into t default values")
        db.execute("insert into t default values")
        config = jdbc_source(db, **_SHORT)
        first = run_here(config)
        late.commit()
        second = run_here(config)
        assert (first.records["read"], first.complete) == (0, False)
        assert "open since" in first.notes["left_for_next_run"]["public.t"]
        assert (second.records["read"], _ids(rows(config, "t"))) == (2, [1, 2])

    def test_a_short_transaction_is_waited_for(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        late = begin("insert into t default values")
        db.execute("insert into t default values")
        config = jdbc_source(db)
        timer = threading.Timer(1.0, late.commit)
        timer.start()
        report = run_here(config)
        timer.join()
        assert (report.complete, _ids(rows(config, "t"))) == (True, [1, 2])

    def test_ignoring_late_commits_waits_for_none(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        begin("insert into t default values")
        db.execute("insert into t default values")
        config = jdbc_source(db, **{"late.commits": "ignore"})
        run_here(config)
        assert _ids(rows(config, "t")) == [2]

    def test_a_number_taken_before_its_row_is_written_counts(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        begin("select nextval('t_id_seq')")
        db.execute("insert into t default values")
        assert run_here(jdbc_source(db, **_SHORT)).records["read"] == 0

    def test_prepared_transaction_is_named(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        gid = unique("gid")
        begin("insert into t default values", f"prepare transaction '{gid}'").close()
        db.execute("insert into t default values")
        report = run_here(jdbc_source(db, **_SHORT))
        db.execute(f"commit prepared '{gid}'")
        assert report.records["read"] == 0
        assert report.notes["left_for_next_run"] == {"public.t": f"prepared transaction {gid}"}

    def test_readers_and_other_tables_hold_nothing_back(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        db.execute("create table other (id bigserial primary key)")
        db.execute("insert into t default values")
        begin("select * from t")
        begin("insert into other default values")
        report = run_here(jdbc_source(db, **_SHORT, **{"table.whitelist": "t"}))
        assert (report.records["read"], report.notes) == (1, {})

    def test_query_waits_for_writers_of_any_table(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        begin("insert into t default values")
        db.execute("insert into t default values")
        more = {"query": "select * from t", "incrementing.column.name": "id", "validate.non.null": "false"}
        assert run_here(jdbc_source(db, **_SHORT, **more)).records["read"] == 0


def test_writers_of_partitions_and_of_the_tables_of_a_view_count(
    db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
) -> None:
    db.execute("create table p (id bigserial primary key) partition by range (id)")
    db.execute("create table p1 partition of p for values from (0) to (1000); create view v as select * from p")
    begin("insert into p1 (id) values (nextval('p_id_seq'))")
    db.execute("insert into p default values")
    more = {"table.types": "PARTITIONED TABLE,VIEW", "incrementing.column.name": "id", "validate.non.null": "false"}
    report = run_here(jdbc_source(db, **_SHORT, **more))
    assert (sorted(report.notes["left_for_next_run"]), report.records["read"]) == (["public.p", "public.v"], 0)


@pytest.mark.usefixtures("table")
class TestTimestamps:
    def test_rows_since_the_beginning_of_an_open_transaction_wait(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        db.execute("insert into t default values")
        late = begin("insert into t default values")
        db.execute("insert into t default values")
        config = jdbc_source(db, **_TIMESTAMP)
        first = run_here(config)
        late.commit()
        run_here(config)
        assert (first.records["read"], _ids(rows(config, "t"))) == (1, [1, 2, 3])
        assert "wait for the transaction of session" in first.notes["held_back"]

    def test_transactions_that_the_user_may_not_look_into_are_waited_for(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        user = unique("reader").replace("-", "_")
        db.execute(f"create user {user} password 'pw'; grant select on t to {user}")
        begin("insert into t default values")
        db.execute("insert into t default values")
        report = run_here(jdbc_source(db, **_TIMESTAMP, **{"connection.user": user, "connection.password": "pw"}))
        assert (report.records["read"], list(report.notes["left_for_next_run"])) == (0, ["public.t"])

    def test_delay_keeps_young_rows_for_later(
        self, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        db.execute("insert into t default values")
        config = jdbc_source(db, **_TIMESTAMP, **{"timestamp.delay.interval.ms": "3600000"})
        assert run_here(config).records["read"] == 0


class TestRoundedTimestamps:
    """Columns that are coarser than the clock: a transaction that begins later can write an earlier timestamp."""

    @pytest.fixture(autouse=True)
    def coarse(self, db: PostgresDatabase) -> None:
        db.execute(
            "create table ms (id int primary key, at timestamptz(3) not null default now());"
            "create table s (id int primary key, at timestamp(0) not null default now());"
            "create table cut (id int primary key, at timestamptz not null default date_trunc('second', now()));"
            "create table d (id int primary key, at date not null default current_date)"
        )

    def test_no_row_of_a_transaction_in_the_same_unit_is_missed(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        """One that commits, one that begins after it and stays open; runs before and after that one's end."""
        tables = ("ms", "s", "cut", "d")
        insert = "; ".join(f"insert into {table} (id) values ({{number}})" for table in tables)
        config = jdbc_source(db, **_TIMESTAMP)
        db.execute(insert.format(number=0))
        late = begin(insert.format(number=1))
        run_here(config)
        late.commit()
        run_here(config)
        db.execute("update d set at = at - 1")
        time.sleep(1.1)
        run_here(config)
        assert {table: sorted(_ids(rows(config, table))) for table in tables} == {table: [0, 1] for table in tables}

    def test_rows_of_the_day_wait_for_its_end_and_the_report_warns(
        self, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        db.execute("insert into d (id) values (1); insert into d values (2, current_date - 1)")
        report = run_here(jdbc_source(db, **_TIMESTAMP, **{"table.whitelist": "d"}))
        (warning,) = report.warnings
        assert (report.records["read"], kind_of(warning)) == (1, Kind.WAITING)
        assert "the rows of a day are read when that day is over" in warning

    def test_timestamps_that_are_wider_than_a_second_are_warned_of(
        self, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        db.execute(
            "insert into cut select n, '2024-01-01'::timestamptz + n * interval '1 h' from generate_series(1, 3) n"
        )
        more = {**_TIMESTAMP, "table.whitelist": "cut"}
        (warning,) = run_here(jdbc_source(db, **more)).warnings
        assert (kind_of(warning), "whole hours" in warning, "3600000" in warning) == (Kind.LOST, True, True)
        assert run_here(jdbc_source(db, **more, **{"timestamp.delay.interval.ms": "3600000"})).notes == {}

    def test_the_database_never_rounds_below_the_unit(self, db: PostgresDatabase) -> None:
        """What the horizon's rounding relies on."""
        moments = (
            "select timestamptz '1960-01-01' + random() * interval '100 years' as at from generate_series(1, 20000)"
        )
        for digits in range(7):
            unit = 10 ** (6 - digits)
            stored, exact = (
                f"extract(epoch from at::timestamptz({digits})) * 1000000",
                "extract(epoch from at) * 1000000",
            )
            wrong = f"({stored})::bigint < floor(({exact})::numeric / {unit}) * {unit}"
            assert db.execute(f"select count(*) from ({moments}) m where {wrong}") == [(0,)]


class TestOtherClocks:
    def test_the_delay_counts_from_the_beginning_of_open_transactions_too(
        self, db: PostgresDatabase, begin: Begin, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        """The application's clock is half a second slow; its transaction is open for longer than the delay."""
        db.execute("create table t (id int primary key, at timestamptz not null)")
        config = jdbc_source(db, **_TIMESTAMP, **{"timestamp.delay.interval.ms": "2000"})
        late = begin("insert into t values (1, now() - interval '500 ms')")
        (began,) = late.execute("select now()").fetchone()
        db.execute("insert into t values (2, %s::timestamptz - interval '200 ms')", (began,))
        time.sleep(2.2)
        run_here(config)
        late.commit()
        time.sleep(2.2)
        run_here(config)
        assert sorted(_ids(rows(config, "t"))) == [1, 2]


class TestBlindSpots:
    """Rows whose transactions this database does not know."""

    @pytest.mark.parametrize(
        "mode", [_TIMESTAMP, pytest.param({"incrementing.column.name": "id"}, marks=pytest.mark.exhaustive)]
    )
    def test_tables_of_a_subscription_and_foreign_tables_are_warned_of(
        self,
        mode: dict[str, str],
        postgres: PostgresServer,
        db: PostgresDatabase,
        jdbc_source: SourceConfig,
        run_here: Run,
    ) -> None:
        publisher, name = postgres.create_database(), unique("s").replace("-", "_")
        table = "(id bigint not null, at timestamptz not null default now())"
        for database in (publisher, db):
            database.execute(f"create table fed {table}; create table own {table}")
        publisher.execute("create publication p for table fed")
        login = f"host=127.0.0.1 port={db.port} dbname={publisher.name} user={db.user} password={db.password}"
        db.execute(
            f"create subscription {name} connection '{login}' publication p"
            " with (create_slot = false, slot_name = none, enabled = false, copy_data = false)"
        )
        db.execute(
            "create extension postgres_fdw; create server far foreign data wrapper postgres_fdw"
            f" options (host '127.0.0.1', port '{db.port}', dbname '{publisher.name}');"
            f" create user mapping for current_user server far options (user '{db.user}', password '{db.password}');"
            f"create foreign table abroad {table} server far options (table_name 'own')"
        )
        more = {"table.types": "TABLE,FOREIGN TABLE", "table.whitelist": "fed,own,abroad"}
        try:
            report = run_here(jdbc_source(db, **mode, **more))
        finally:
            db.execute(f"drop subscription {name}")
        foreign, subscribed = sorted(report.warnings)
        assert foreign.startswith("abroad is a foreign table")
        assert subscribed.startswith("fed gets rows by logical replication")


@pytest.mark.exhaustive
def test_rows_that_replication_brings_late_are_missed_as_the_warning_says(
    jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    server = PostgresServer({"wal_level": "logical"})
    try:
        publisher, subscriber = server.create_database(), server.create_database()
        for database in (publisher, subscriber):
            database.execute("create table t (id bigint primary key)")
        publisher.execute("create publication p for table t")
        publisher.execute("select pg_create_logical_replication_slot('s', 'pgoutput')")
        login = f"host=127.0.0.1 port={publisher.port} dbname={publisher.name} user={server.user}"
        subscriber.execute(
            f"create subscription s connection '{login} password={server.password}' publication p"
            " with (create_slot = false, slot_name = s, copy_data = false)"
        )
        config = jdbc_source(subscriber, **{"incrementing.column.name": "id"})
        with publisher.connect() as late:
            late.autocommit = False
            late.execute("insert into t values (5)")
            publisher.execute("insert into t values (6)")
            _wait_for_ids(subscriber, 6)
            report = run_here(config)
            late.commit()
        _wait_for_ids(subscriber, 5, 6)
        run_here(config)
    finally:
        server.remove()
    assert "t gets rows by logical replication" in str(report.warnings)
    assert _ids(rows(config, "t")) == [6]


class TestClocks:
    """Timestamps that do not know their zone."""

    @pytest.fixture(autouse=True)
    def wall(self, db: PostgresDatabase) -> None:
        db.execute("create table t (id bigserial primary key, at timestamp not null default now())")

    def test_sessions_in_another_zone_are_warned_of_until_the_zone_is_set(
        self, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
    ) -> None:
        db.execute(f"alter database {db.name} set timezone = 'America/New_York'")
        report = run_here(jdbc_source(db, **_TIMESTAMP))
        assert "sessions in America/New_York" in str(report.warnings)
        assert run_here(jdbc_source(db, **_TIMESTAMP, **{"db.timezone": "UTC"})).notes == {}

    def test_times_that_never_come_are_read_once(
        self, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
    ) -> None:
        """In Berlin half past two was left out that night; the database does not know that."""
        config = jdbc_source(db, **_TIMESTAMP, **{"db.timezone": "Europe/Berlin"})
        for at in ("2026-03-29 02:30", "2026-03-29 02:40", "2026-03-29 03:10"):
            db.execute("insert into t (at) values (%s)", (at,))
            run_here(config)
        assert _ids(rows(config, "t")) == [1, 2, 3]
