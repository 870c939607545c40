"""Records of one partition that transformations have given several topics, and that go into one table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import INT32_SCHEMA, OPTIONAL_STRING_SCHEMA, Shape, struct
from airflow_kconnect.connectors.jdbc.databases.resolving import target_of
from airflow_kconnect.connectors.jdbc.sink.config import confluent_keys, settings_of
from airflow_kconnect.connectors.jdbc.sink.layouts import layout_of
from airflow_kconnect.connectors.jdbc.sink.writer import JdbcWriter
from tests.support.databases.servers import Database

KEY = Shape(struct(("id", INT32_SCHEMA)))
NAMED = Shape(struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA)))
NOTED = Shape(struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("note", OPTIONAL_STRING_SCHEMA)))


def write(database: Database, *records: tuple[str, int, str], table: str = "t") -> None:
    """Upsert records with the key 1: their topics, the numbers of their layouts, their names."""
    keys = {"insert.mode": "upsert", "pk.mode": "record_key", "offsets.table": "", "table.name.format": table}
    settings = settings_of("sink", confluent_keys().parse({**database.config, **keys}))
    topics, parts, names = zip(*records, strict=True)
    ones, texts = pa.array([1] * len(records), pa.int32()), pa.array(names, pa.string())
    columns = {
        "topic": pa.array(topics, pa.string()),
        "part": pa.array(parts, pa.int32()),
        **{"cell_0_0": ones, "cell_0_1": texts, "cell_1_0": ones, "cell_1_1": texts, "cell_1_2": texts},
        "kafka_offset": pa.array(range(len(records)), pa.int64()),
    }
    writer = JdbcWriter(target_of(settings), tuple(layout_of(settings, KEY, row) for row in (NAMED, NOTED)), None, "")
    try:
        writer.open(SinkSplit("read", 0, 0, len(records)))
        writer.write(pa.record_batch(columns))
        writer.close(len(records))
    except BaseException:
        writer.abort()
        raise


@pytest.fixture
def database(each_database: Database) -> Database:
    for table in ("t", "t_a", "t_b"):
        each_database.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, name varchar(9), note varchar(9))")
    return each_database


def names(database: Database, table: str = "t") -> list[str]:
    return [name for (name,) in database.execute(f"SELECT name FROM {table}")]


def test_keep_their_order(database: Database) -> None:
    write(database, ("a", 0, "first"), ("b", 0, "second"), ("a", 0, "third"))
    assert names(database) == ["third"]


def test_keep_it_if_their_columns_differ(database: Database) -> None:
    write(database, ("a", 0, "first"), ("b", 1, "second"), ("a", 0, "third"), ("b", 1, "fourth"))
    assert names(database) == ["fourth"]


def test_reach_a_table_each(database: Database) -> None:
    write(database, ("a", 0, "first"), ("b", 0, "second"), ("a", 0, "third"), table="t_${topic}")
    assert (names(database, "t_a"), names(database, "t_b")) == (["third"], ["second"])
