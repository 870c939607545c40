"""What a worker on an executor needs there, and what it does not log."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.control import Address
from airflow_kconnect.runtime.java_connector.workers.remote import HostTask, plugin_of, use_log_without
from airflow_kconnect.worker_config.keys import WorkerConfig

CLASS = "com.example.Source"
TASK = HostTask(
    address=Address("driver", 1, b"key"),
    worker_id="run",
    name="orders",
    kind="source",
    props={"name": "orders", "connector.class": CLASS},
    worker={"bootstrap.servers": "localhost:9092"},
    properties={},
    secrets={"a_0": "tr0ub4dor", "a_1": "of"},
    memory="512m",
    version="1.0",
)


def test_a_plug_in_that_a_machine_does_not_have_is_named_with_what_to_do(tmp_path: Path) -> None:
    worker = WorkerConfig.from_props({**TASK.worker, "plugin.path": str(tmp_path)})
    with pytest.raises(ConfigError) as caught:
        plugin_of(TASK, worker)
    assert f"no plug-in below `plugin.path` has {CLASS}" in str(caught.value)
    assert "on each machine" in str(caught.value)


def test_secrets_are_neither_logged_nor_shown(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("kconnect.hosted")
    before = log.handlers[:], log.propagate, log.level
    try:
        use_log_without(TASK.secrets.values())
        log.warning("login of tr0ub4dor failed")
        # Spark uses a Python process for several tasks.
        use_log_without([])
        log.warning("another task")
    finally:
        log.handlers[:], log.propagate = before[:2]
        log.setLevel(before[2])
    printed = capsys.readouterr().err.splitlines()
    assert [line.partition("kconnect.hosted: ")[2] for line in printed] == ["login of *** failed", "another task"]
    assert "tr0ub4dor" not in repr(replace(TASK, name="other"))
