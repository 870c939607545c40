"""Which records of a source register a schema: those that are converted, and no others."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from airflow_kconnect.local.ports import free_port
from tests.integration.runtime.conftest import Run
from tests.support import unique

Config = dict[str, str]
DROP_ALL = {"transforms": "drop", "transforms.drop.type": "org.apache.kafka.connect.transforms.Filter"}


@pytest.fixture
def orders(tmp_path: Path) -> Callable[..., Config]:
    """A source of a SQLite table with a row: `orders(url, **keys)`."""
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table orders (id integer primary key, item text)")
        connection.execute("insert into orders (item) values ('chair')")

    def config(url: str, **more: str) -> Config:
        return {
            "name": unique("source"),
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{path}",
            "table.whitelist": "orders",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": f"{unique('t')}-",
            "value.converter": "io.confluent.connect.avro.AvroConverter",
            "value.converter.schema.registry.url": url,
            "value.converter.max.retries": "0",
            **more,
        }

    return config


def test_dropped_records_register_nothing(orders: Callable[..., Config], run_here: Run, registry_url: str) -> None:
    config = orders(registry_url, **DROP_ALL)

    report = run_here(config)

    subjects = SchemaRegistryClient({"url": registry_url}).get_subjects()
    assert report.records["filtered"] == 1
    assert [subject for subject in subjects if config["topic.prefix"] in subject] == []


def test_a_run_whose_records_are_all_dropped_needs_no_registry(orders: Callable[..., Config], run_here: Run) -> None:
    assert run_here(orders(f"http://127.0.0.1:{free_port()}", **DROP_ALL)).records["filtered"] == 1


def test_records_that_a_transformation_rejects_register_nothing(
    orders: Callable[..., Config], run_here: Run, registry_url: str
) -> None:
    cast = {"transforms": "cast", "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
            "transforms.cast.spec": "item:int32", "errors.tolerance": "all"}  # fmt: skip
    config = orders(registry_url, **cast)

    run_here(config)

    subjects = SchemaRegistryClient({"url": registry_url}).get_subjects()
    assert [subject for subject in subjects if config["topic.prefix"] in subject] == []
