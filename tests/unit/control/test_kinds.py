"""Whether a class is a source or a sink, wherever it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.control.kinds import kind, version
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connect.java_plugins import source_jar

SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"


@pytest.fixture
def worker(tmp_path: Path) -> WorkerConfig:
    """Of a plug-in folder with a Java source."""
    (tmp_path / "a-plugin").mkdir()
    source_jar(tmp_path / "a-plugin" / "a-plugin-1.2.jar", "com.shop.OrdersSource")
    return WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", "plugin.path": str(tmp_path)})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param({"connector.class": SINK}, "sink", id="of this package"),
        pytest.param({"connector.class": "com.shop.OrdersSource"}, "source", id="in Java"),
        pytest.param({"connector.class": "OrdersSource"}, "source", id="in Java, by its simple name"),
        pytest.param({"connector.class": "com.shop.Nothing"}, "unknown", id="nowhere"),
        pytest.param({"connector.class": SINK, "kconnect.hosted": "true"}, "unknown", id="not in Java"),
        pytest.param({}, "unknown", id="no class"),
    ],
)
def test_kinds(config: dict[str, str], expected: str, worker: WorkerConfig) -> None:
    assert kind(config, worker) == expected


def test_workers_with_other_plugins_know_other_classes(worker: WorkerConfig) -> None:
    java = {"connector.class": "com.shop.OrdersSource"}
    assert (kind(java, worker), version(java, worker)) == ("source", "1.2")
    assert kind(java, WorkerConfig.defaults()) == "unknown"
