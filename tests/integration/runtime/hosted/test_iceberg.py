"""Apache Iceberg's sink into a catalog in a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as parquet
import pytest

from airflow_kconnect.hosted.plugins.contents import resolved
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home
from tests.support import unique
from tests.support.connect.tried import example
from tests.support.kafka import create_topic, produce

COORDINATES = ("org.apache.iceberg:iceberg-kafka-connect:1.9.2", "org.apache.iceberg:iceberg-parquet:1.9.2")

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of plug-ins: the sink, and Parquet and Hadoop's client, which its artifact does not ask for."""
    folder = tmp_path_factory.mktemp("plugins")
    plugin = folder / "iceberg-kafka-connect"
    plugin.mkdir()
    home = spark_home()
    assert home is not None
    hadoop = list((home / "jars").glob("hadoop-client-*.jar"))
    for jar in [*resolved(ivy.resolve(COORDINATES, java=find_java()).glob("*.jar")), *hadoop]:
        (plugin / jar.name).symlink_to(jar)
    return folder


@pytest.fixture
def sink(bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> dict[str, str]:
    """A sink into the table `shop.orders` of a catalog in `warehouse`."""
    places = {
        "topics": topic(2),
        "iceberg.catalog.warehouse": f"file://{tmp_path}/warehouse",
        "iceberg.control.topic": create_topic(bootstrap, unique("control")),
        "iceberg.kafka.bootstrap.servers": bootstrap,
    }
    return example("orders-to-iceberg", places)


def test_each_run_adds_what_is_new_to_the_table_and_only_once(
    bootstrap: str, sink: dict[str, str], iceberg: Path, run_hosted: Callable[..., Any], tmp_path: Path
) -> None:
    produce(bootstrap, sink["topics"], [json.dumps({"id": n}) for n in range(200)])
    first = run_hosted(sink, **{"plugin.path": str(iceberg)})
    assert (first.complete, first.lag_max) == (True, 0)
    assert ids(tmp_path / "warehouse/shop/orders") == Counter(range(200))
    produce(bootstrap, sink["topics"], [json.dumps({"id": n}) for n in range(200, 250)])
    second = run_hosted(sink, **{"plugin.path": str(iceberg)})
    assert second.records["written"] == 50
    assert ids(tmp_path / "warehouse/shop/orders") == Counter(range(250))


def ids(table: Path) -> Counter[int]:
    """How often each id is in the table's current snapshot."""
    return Counter(n for file in data_files(table) for n in parquet.read_table(file)["id"].to_pylist())


def data_files(table: Path) -> Iterator[Path]:
    """The files of the current snapshot, as the metadata of a catalog in a folder says."""
    version = (table / "metadata/version-hint.text").read_text().strip()
    metadata = json.loads((table / f"metadata/v{version}.metadata.json").read_text())
    (current,) = (one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["current-snapshot-id"])
    for manifest in avro(current["manifest-list"]):
        for entry in avro(manifest["manifest_path"]):
            if entry["status"] != 2:  # deleted
                yield path_of(entry["data_file"]["file_path"])


def avro(uri: str) -> list[Any]:
    """The records of an Avro file."""
    with path_of(uri).open("rb") as file:
        return list(fastavro.reader(file))


def path_of(uri: str) -> Path:
    """The file of a `file:` URI."""
    return Path(uri.removeprefix("file:"))
