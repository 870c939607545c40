"""A Java connector by an operator on this machine: its job runs, and spark-submit does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airflow_kconnect import ConnectorConfigError, KafkaSourceOperator
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.kafka import read_values
from tests.support.spark.fake_spark import FakeSpark


def test_a_java_source_runs_without_spark_submit(
    bootstrap: str, worker_props: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = FakeSpark(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    lines = tmp_path / "in.txt"
    lines.write_text("a\nb\n")
    name = unique("java")
    config = {
        "name": name,
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "kconnect.hosted": "true",
        "kconnect.hosted.idle.ms": "1000",
        "file": str(lines),
        "topic": f"t-{name}",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    worker = {**worker_props, "plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))}
    operator = KafkaSourceOperator(task_id="read", connector=config, worker_config=worker, kafka_conn_id=None)
    report = operator.execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, f"t-{name}") == [b"a", b"b"]
    assert not (spark.folder / "command.json").exists()


def test_wrong_keys_are_refused_before_a_cluster_is_asked(
    worker_props: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = FakeSpark(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "spark://nowhere:7077"}))
    config = {
        "name": "java",
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "kconnect.hosted": "true",
        "batch.size": "many",
    }
    worker = {**worker_props, "plugin.path": str(plugin_folder(tmp_path / "plugins", FILE))}
    operator = KafkaSourceOperator(task_id="read", connector=config, worker_config=worker, kafka_conn_id=None)
    with pytest.raises(ConnectorConfigError, match=r"(?s)`batch.size`.*`topic`|`topic`.*`batch.size`"):
        operator.execute(context())
    assert not (spark.folder / "command.json").exists()
