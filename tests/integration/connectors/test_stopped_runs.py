"""Sinks of files in stores: a run that was stopped, and continues when a newer one has done all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import NativeSinkConnector, SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.azure import AzureBlobStorageSinkConnector
from airflow_kconnect.connectors.cloud_storage.gcs import GcsSinkConnector
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.connectors.cloud_storage.sink import CloudStorageSinkConnector
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.confluent_sinks import confluent_sink
from tests.support.faults import FaultProxy, delayed
from tests.support.stores import Store

_CONFLUENT: dict[str, type[CloudStorageSinkConnector]] = {
    "s3": S3SinkConnector,
    "gs": GcsSinkConnector,
    "abfss": AzureBlobStorageSinkConnector,
}
_HIDDEN = {"gs": 4, "abfss": 4}
"""How many hidden objects two files have, which are removed once the files are visible."""

Results = list[tuple[SinkSplit, dict[str, Any]]]


def directory_sink(store: Store, folder: str, size: int) -> NativeSinkConnector:
    return DirectorySinkConnector(
        {"name": "lake", "directory": f"{store.address}/{folder}", "flush.size": str(size), **store.settings}
    )


def confluents_sink(store: Store, folder: str, size: int) -> NativeSinkConnector:
    keys = {"topics": "t", "topics.dir": folder, "format.class": "JsonFormat", "flush.size": str(size)}
    return _CONFLUENT[_scheme(store)]({**keys, **confluent_sink(store)})


@pytest.fixture(scope="module", params=["moto", "gs", "azure", pytest.param("hdfs", marks=pytest.mark.exhaustive)])
def store(request: pytest.FixtureRequest, store_of: Callable[[str], Store]) -> Store:
    return store_of(request.param)


@pytest.mark.parametrize("sink", [directory_sink, confluents_sink])
@pytest.mark.parametrize("killed_end", [pytest.param(3, id="other bytes"), pytest.param(4, id="the same bytes")])
def test_a_left_over_file_that_it_was_about_to_remove_stays_if_a_newer_run_has_replaced_it(
    store: Store, sink: Callable[[Store, str, int], NativeSinkConnector], killed_end: int
) -> None:
    """Files are named by their first record, so a newer run may give its own the name of what a killed one has left.

    docs/delivery-guarantees.md says in which stores it does not stay.
    """
    if sink is confluents_sink and _scheme(store) not in _CONFLUENT:
        pytest.skip("none of these sinks is for HDFS")
    folder = unique("lake")
    run(sink(store, folder, 2), killed_end)  # killed before its offsets were committed
    with FaultProxy(store.settings["store.endpoint"]) as proxy:
        stopped = sink(store.through(proxy.url), folder, 3)
        written = begun(stopped, 4)
        stopped.before_commit()
        newer = delayed(lambda: run(sink(store, folder, 2), 4))
        with proxy.fault("DeleteObject", newer, after=_HIDDEN.get(_scheme(store), 0)):
            stopped.commit(written)
    is_removed = _scheme(store) == "abfss" or (_scheme(store) == "s3" and killed_end == 4)
    assert numbers(store, folder) == ([0, 1] if is_removed else [0, 1, 2, 3])


def _scheme(store: Store) -> str:
    return store.address.partition(":")[0]


def begun(sink: NativeSinkConnector, end: int) -> Results:
    """A run from the first record on, until all is written."""
    sink.check()
    sink.prepare({TopicPartition("t", 0): 0})
    split = SinkSplit("t", 0, 0, end)
    writer = sink.writer()
    writer.open(split)
    lines = [f"{n}\n".encode() for n in range(end)]
    column = "line" if isinstance(sink, DirectorySinkConnector) else "values"
    writer.write(pa.record_batch({column: pa.array(lines, pa.binary()), "kafka_offset": range(end)}))
    return [(split, writer.close(end))]


def run(sink: NativeSinkConnector, end: int) -> None:
    """A whole one."""
    written = begun(sink, end)
    sink.before_commit()
    sink.commit(written)


def numbers(store: Store, folder: str) -> list[int]:
    """What readers see."""
    place = open_place(f"{store.address}/{folder}", store.settings)
    return sorted(int(line) for file in place.files() for line in place.read(file).read().splitlines())
