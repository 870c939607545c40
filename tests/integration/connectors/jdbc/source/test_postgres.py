"""The JDBC source on PostgreSQL: types, names, offsets of Connect, changes of schemas, bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.jdbc.databases.postgresql.reading import PostgreSql
from airflow_kconnect.connectors.jdbc.source.planning import Planner
from airflow_kconnect.stores.offset_topic.records import offset_key
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase
from tests.support.kafka import produce, read_all, read_values

_TYPES = """
create type mood as enum ('sad', 'happy');
create domain positive as numeric(8, 3) check (value > 0);
create table kinds (
  id bigserial primary key, b boolean, i2 smallint, i4 int, f4 real, f8 double precision, n numeric(12, 2),
  n0 numeric(6), t text, v varchar(10), c char(4), y bytea, d date, tm time, tz timetz, ts timestamp, tsz timestamptz,
  j json, jb jsonb, u uuid, m mood, p positive, bt bit(1), x xml, o oid
);
insert into kinds (b, i2, i4, f4, f8, n, n0, t, v, c, y, d, tm, tz, ts, tsz, j, jb, u, m, p, bt, x, o) values (
  true, -32768, 2147483647, 1.5, 1e300, -12345.67, 123456, 'ünï', 'v', 'ab', '\\x00ff', '1969-12-31', '23:59:59.999999',
  '01:00:00+02', '1969-12-31 23:59:59.999999', '2024-03-31 02:30:00.123456+02', '{"a": 1}', '{"b":2}',
  '123e4567-e89b-12d3-a456-426614174000', 'happy', 1.5, B'1', '<a/>', 4294967295), (
  null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
  null, null, null, null, null)
"""


def _put_offset(
    bootstrap: str, worker: Mapping[str, str], config: Mapping[str, str], partition: Any, offset: Any
) -> None:
    """What Connect would have written."""
    topic = worker["offset.storage.topic"]
    produce(bootstrap, topic, [json.dumps(offset)], key=offset_key(config["name"], partition))


def test_every_type_keeps_its_value(db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows) -> None:
    db.execute(_TYPES)
    config = jdbc_source(db)
    run_here(config)
    full, empty = rows(config, "kinds")
    assert full == {
        "id": 1, "b": True, "i2": -32768, "i4": 2147483647, "f4": 1.5, "f8": 1e300, "n": -12345.67, "n0": 123456,
        "t": "ünï", "v": "v", "c": "ab  ", "y": "AP8=", "d": -1, "tm": 86399999, "tz": 82800000, "ts": -1,
        "tsz": 1711845000123, "j": '{"a": 1}', "jb": '{"b": 2}', "u": "123e4567-e89b-12d3-a456-426614174000",
        "m": "happy", "p": 1.5, "bt": True, "x": "<a/>", "o": 4294967295,
    }  # fmt: skip
    assert empty == {**dict.fromkeys(full), "id": 2}


def test_schemas_are_those_of_connect(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, bootstrap: str
) -> None:
    db.execute("create table t (id serial primary key, n numeric(10, 2), at timestamptz not null default now())")
    db.execute("insert into t (n) values (1.5)")
    config = jdbc_source(db, **{"value.converter.schemas.enable": "true", "numeric.mapping": "best_fit"})
    run_here(config)
    (value,) = read_values(bootstrap, f"{config['topic.prefix']}t")
    assert json.loads(value or b"")["schema"] == {
        "type": "struct",
        "fields": [
            {"type": "int32", "optional": False, "field": "id"},
            {"type": "double", "optional": True, "field": "n"},
            {
                "type": "int64",
                "optional": False,
                "name": "org.apache.kafka.connect.data.Timestamp",
                "version": 1,
                "field": "at",
            },
        ],
        "optional": False,
        "name": "t",
    }


def test_timestamps_of_another_zone_move_and_resume_exactly(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id serial primary key, at timestamp not null)")
    db.execute("insert into t (at) values ('2024-07-01 12:00:00.5'), ('2024-07-01 12:00:00.5')")
    more = {"mode": "timestamp", "timestamp.column.name": "at", "db.timezone": "Europe/Berlin"}
    config = jdbc_source(db, **more)
    first = run_here(config)
    second = run_here(config)
    assert first.offsets[0]["offset"] == {"timestamp": 1719828000500, "timestamp_nanos": 500000000}
    assert second.records["read"] == 0
    assert [row["at"] for row in rows(config, "t")] == [1719828000500] * 2


@pytest.mark.parametrize("mapping", ["fail", "string", "skip"])
def test_types_without_counterpart(
    mapping: str, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id serial primary key, a int[], p point, m money, n numeric, iv interval, ts tsvector)")
    db.execute("insert into t (a, p, m, n, iv, ts) values ('{1,2}', '(1,2)', 3, 'NaN', '1 day', 'a')")
    config = jdbc_source(db, **{"unsupported.columns": mapping})
    if mapping == "fail":
        with pytest.raises(ConfigError) as caught:
            run_here(config)
        assert [f"public.t.{name} is " in str(caught.value) for name in ("a", "p", "m", "n", "iv", "ts")] == [True] * 6
        return
    run_here(config)
    texts = {"a": "{1,2}", "p": "(1,2)", "m": "$3.00", "n": "NaN", "iv": "1 day", "ts": "'a'"}
    assert rows(config, "t") == [{"id": 1, **(texts if mapping == "string" else {})}]


def test_hostile_names_are_only_names(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, bootstrap: str
) -> None:
    db.execute("create table canary (id serial primary key)")
    names = ['a"; drop table canary;--', "ünï.with.dots", "MixedCase", "x" * 63, "per%cent ?", "ap'os\\trophe"]
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        db.execute(f'create table {quoted} ({quoted} serial primary key, "from" int default 1)')
        db.execute(f"insert into {quoted} default values")
    more = {
        "table.exclude.list": "public\\.canary",
        "transforms": "r",
        "transforms.r.type": "RegexRouter",
        "transforms.r.regex": ".*",
    }
    config = jdbc_source(db, **more)
    config["transforms.r.replacement"] = config["topic.prefix"]
    run_here(config)
    found = [json.loads(value or b"") for value in read_values(bootstrap, config["topic.prefix"])]
    assert sorted(next(iter(value)) for value in found) == sorted(names)
    assert db.execute("select count(*) from canary") == [(0,)]
    assert run_here(config).records["read"] == 0


def test_offsets_of_a_connect_cluster_are_taken_over_in_each_of_their_forms(
    db: PostgresDatabase,
    jdbc_source: SourceConfig,
    run_here: Run,
    rows: Rows,
    bootstrap: str,
    worker_props: dict[str, str],
) -> None:
    partitions = {
        "protocol_1": {"protocol": "1", "table": "public.protocol_1"},
        "another_order": {"table": "public.another_order", "protocol": "1"},
        "protocol_0": {"table": "protocol_0"},
        "with_database": {"protocol": "1", "table": f"{db.name}.public.with_database"},
    }
    config = jdbc_source(db)
    for table, partition in partitions.items():
        db.execute(f"create table {table} (id serial primary key); insert into {table} select generate_series(1, 20)")
        _put_offset(bootstrap, worker_props, config, partition, {"incrementing": 15})
    report = run_here(config)
    found = {table: [row["id"] for row in rows(config, table)] for table in partitions}
    assert found == {table: [16, 17, 18, 19, 20] for table in partitions}
    kept = partitions | {"protocol_0": {"protocol": "1", "table": "public.protocol_0"}}
    assert {each["partition"]["table"]: each for each in report.offsets} == {
        partition["table"]: {"partition": partition, "offset": {"incrementing": 20}} for partition in kept.values()
    }


def test_changed_columns_are_told_or_refused(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id serial primary key, a int, b text)")
    db.execute("insert into t (a, b) values (1, 'x')")
    config = jdbc_source(db)
    run_here(config)
    db.execute("alter table t drop column b; alter table t alter a type bigint")
    db.execute("alter table t add c date not null default current_date")
    db.execute("insert into t (a, c) values (2, '1970-01-02')")
    with pytest.raises(DataError, match=r"column c date not null was added; column b text was dropped; column a was"):
        run_here({**config, "schema.change": "fail"})
    report = run_here(config)
    assert list(report.notes["schema_changes"]) == ["public.t"]
    assert rows(config, "t")[-1] == {"id": 2, "a": 2, "c": 1}
    assert "schema_changes" not in run_here(config).notes


def test_keys_of_the_primary_key(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, bootstrap: str
) -> None:
    db.execute("create table t (a int, b text, c int, primary key (b, a))")
    db.execute("insert into t values (1, 'x', 2)")
    config = jdbc_source(db, **{"mode": "bulk", "key.from.primary.key": "true"})
    run_here(config)
    (record,) = read_all(bootstrap, f"{config['topic.prefix']}t")
    assert (record.key, record.value) == (b'{"b":"x","a":1}', b'{"a":1,"b":"x","c":2}')


def test_bulk_reads_each_row_once_whatever_kind_of_relation_has_it(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    """None was ever analysed, most have no blocks of their own, and a key of the parent is none of its children."""
    db.execute(
        "create table parent (n int primary key); create table child () inherits (parent);"
        " insert into parent values (0), (1); insert into child select generate_series(1, 3000);"
        "create table parts (n int) partition by hash (n);"
        " create table part0 partition of parts for values with (modulus 2, remainder 0);"
        " create table part1 partition of parts for values with (modulus 2, remainder 1);"
        " insert into parts select generate_series(0, 3000);"
        "create materialized view stored as select n from generate_series(0, 3000) n;"
        "create table plain as select n from generate_series(0, 3000) n;"
        "create extension postgres_fdw; create server here foreign data wrapper postgres_fdw"
        f" options (host '127.0.0.1', port '{db.port}', dbname '{db.name}');"
        f"create user mapping for current_user server here options (user '{db.user}', password '{db.password}');"
        "create foreign table abroad (n int) server here options (table_name 'plain')"
    )
    types = "TABLE,PARTITIONED TABLE,MATERIALIZED VIEW,FOREIGN TABLE"
    names = "parent,parts,stored,plain,abroad"
    more = {"mode": "bulk", "table.types": types, "table.whitelist": names, "split.rows": "1000"}
    config = jdbc_source(db, **more)
    report = run_here(config)
    found = {table: sorted(row["n"] for row in rows(config, table)) for table in names.split(",")}
    assert found.pop("parent") == [0, 1, *range(1, 3001)]
    assert found == {table: list(range(3001)) for table in names.split(",")[1:]}
    assert report.splits > 5


def test_large_table_is_cut_by_its_statistics_without_counting_rows(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgreSql, "large_rows", 10_000)
    monkeypatch.setattr(Planner, "_extent", lambda *_: pytest.fail("rows are counted"))
    # A few numbers are far away from the others: equal ranges of numbers would be anything but equal.
    db.execute("create table t (id bigint primary key)")
    db.execute("insert into t select generate_series(1, 20000) union all values (9000000000), (9000000001); analyze t")
    config = jdbc_source(db, **{"incrementing.column.name": "id", "split.rows": "4000"})
    report = run_here(config)
    assert report.splits > 3
    assert sorted(row["id"] for row in rows(config, "t")) == [*range(1, 20001), 9000000000, 9000000001]


def test_ids_that_repeat_are_never_parted(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id int not null, n int)")
    db.execute("insert into t select n / 7, n from generate_series(0, 3999) n")
    more = {"incrementing.column.name": "id", "split.rows": "1000", "kconnect.max.records": "2500"}
    config = jdbc_source(db, **more)
    written = [run_here(config).records["written"] for _ in range(2)]
    assert written == [2499, 1501]
    assert sorted(row["n"] for row in rows(config, "t")) == list(range(4000))


def test_first_of_several_timestamps_that_is_not_null_counts(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id int primary key, changed timestamp, made timestamp not null)")
    db.execute("insert into t values (1, null, '2024-01-01'), (2, '2024-01-03', '2024-01-01'), (3, null, '2024-01-01')")
    config = jdbc_source(db, **{"mode": "timestamp", "timestamp.column.name": "changed,made"})
    first = run_here(config)
    db.execute("update t set changed = '2024-01-02' where id = 1; update t set changed = '2024-01-04' where id = 3")
    run_here(config)
    assert (first.records["written"], rows(config, "t")[3:]) == (
        3,
        [{"id": 3, "changed": 1704326400000, "made": 1704067200000}],
    )


def test_a_run_stopped_by_time_between_equal_timestamps_resumes_exactly_there(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table t (id int primary key, at timestamptz not null)")
    db.execute("insert into t select n, '2024-01-01 00:00:00+00' from generate_series(1, 60000) n")
    config = jdbc_source(db, **{"mode": "timestamp", "timestamp.column.name": "at", "kconnect.max.duration.ms": "1"})
    first = run_here(config)
    assert not first.complete
    run_here({key: text for key, text in config.items() if key != "kconnect.max.duration.ms"})
    assert sorted(row["id"] for row in rows(config, "t")) == list(range(1, 60001))


_WRONG: list[tuple[str, dict[str, str], str, str]] = [
    ("null in the cursor", {"incrementing.column.name": "n"}, "validate.non.null", "public.t.n can be null"),
    ("no such column", {"incrementing.column.name": "nix"}, "incrementing.column.name", "has no column nix"),
    ("no number", {"incrementing.column.name": "s"}, "incrementing.column.name", "is text, not a whole number"),
    ("no timestamp", {"mode": "timestamp", "timestamp.column.name": "s"}, "timestamp.column.name", "not a timestamp"),
    ("no such table", {"table.whitelist": "tt"}, "table.whitelist", "there is no table tt"),
    ("negative numbers", {"incrementing.column.name": "id"}, "incrementing.initial", "has rows from -3 on"),
    ("wrong password", {"connection.password": "s3cret"}, "connection.password", "cannot log in to jdbc:postgresql://"),
    ("no such database", {"connection.url": "{url}x"}, "connection.url", "does not exist"),
]


@pytest.mark.parametrize(("more", "key", "text"), [w[1:] for w in _WRONG], ids=[w[0] for w in _WRONG])
def test_what_cannot_work_is_said_before_anything_moves(
    more: dict[str, str], key: str, text: str, db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
) -> None:
    db.execute("create table t (id int primary key, n int, s text)")
    db.execute("insert into t values (-3, 1, 'x')")
    config = jdbc_source(db, **{name: value.format(url=db.url) for name, value in more.items()})
    with pytest.raises(ConfigError) as caught:
        run_here(config)
    assert text in " ".join(caught.value.errors[key])
    assert "s3cret" not in str(caught.value)


def test_a_number_that_is_none_fails_for_good_and_says_so(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run
) -> None:
    db.execute("create table t (id serial primary key, n numeric(10, 2))")
    db.execute("insert into t (n) values (1), ('NaN')")
    with pytest.raises(DataError, match=r"numeric \(public\.t\.n\) has the value NaN"):
        run_here(jdbc_source(db))
