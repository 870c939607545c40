"""`kconnect migrate` of Iceberg's sink: Java there, Spark here; only when its coordinator has committed everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.table.iceberg.control_topic import event_of
from tests.integration.migration.conftest import Side, wait_until
from tests.support import unique
from tests.support.connect.iceberg import NEWEST, iceberg_folder
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import create_topic, produce, read_values

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(600)]

DATA_WRITTEN = 1
SCHEMA = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}


@pytest.fixture(scope="module")
def connect(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """A worker with Iceberg's sink."""
    plugins = iceberg_folder(tmp_path_factory.mktemp("plugins"), version=NEWEST)
    folder, settings = tmp_path_factory.mktemp("connect"), {"plugin.path": str(plugins)}
    with ConnectWorker.of_group(folder, bootstrap, unique("cluster"), heap_mb=384, settings=settings) as worker:
        yield worker


def test_it_moves_here_and_back_with_each_row_once(
    lake: str,
    spark: SparkSession,
    side: Callable[..., Side],
    connect: ConnectWorker,
    topic: Callable[..., str],
    bootstrap: str,
    start_in_connect: Callable[[dict[str, str]], None],
    tmp_path: Path,
) -> None:
    name, orders, control = unique("iceberg"), topic(), create_topic(bootstrap, unique("control"))
    sink = {
        "name": name,
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "topics": orders,
        "iceberg.tables": "shop.orders",
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.catalog": unique("catalog").replace("-", "_"),
        "iceberg.catalog.type": "hadoop",
        "iceberg.catalog.warehouse": f"file://{tmp_path}/warehouse",
        "iceberg.control.topic": control,
        "iceberg.control.commit.interval-ms": "1000",
        "iceberg.kafka.bootstrap.servers": bootstrap,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    table = tmp_path / "warehouse/shop/orders"

    def add(first: int, end: int) -> None:
        produce(bootstrap, orders, [json.dumps({"schema": SCHEMA, "payload": {"id": n}}) for n in range(first, end)])

    def rows() -> list[int]:
        if not (table / "metadata").exists():
            return []
        return sorted(row.id for row in spark.read.format("iceberg").load(str(table)).collect())

    def written() -> list[bytes]:
        events = [(value, event_of(value or b"")) for value in read_values(bootstrap, control)]
        return [value or b"" for value, event in events if event == (DATA_WRITTEN, f"connect-{name}")]

    ours = side()
    add(0, 100)
    start_in_connect(sink)
    wait_until(lambda: rows() == list(range(100)), "Connect's sink writing", timeout_s=120)
    ours.move(name)
    add(100, 150)
    assert ours.run(name).records["written"] == 50
    assert rows() == list(range(150))
    ours.back(name)
    add(150, 170)
    wait_until(lambda: rows() == list(range(170)), "Connect's sink continuing", timeout_s=120)
    # As if its tasks had been stopped before its coordinator had committed their last files.
    connect.stop_connector(name)
    [*_, last] = written()
    produce(bootstrap, control, [last])
    refused = ours.type("--connector", name, "--apply")
    assert refused.exit_code != 0
    assert "has not committed to tables: 1 events" in f"{refused.stdout}{refused.stderr}"
