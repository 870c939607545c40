"""Hosted connectors and brokers that ask for user and password."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run

PASSWORD = 'se"cret;\\1'


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    broker = EmbeddedBroker(tmp_path_factory.mktemp("strict"), heap_mb=256, sasl_users={"ann": PASSWORD})
    broker.start()
    yield broker
    broker.stop()


@pytest.mark.exhaustive
def test_a_source_and_a_sink_log_in_as_a_connection_of_airflow_says(
    strict: EmbeddedBroker,
    plugin_path: Path,
    numbered: Any,
    java_source: Callable[..., dict[str, str]],
    java_sink: Callable[..., dict[str, str]],
    tmp_path: Path,
) -> None:
    worker = {
        "bootstrap.servers": strict.sasl_bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "ann",
        "sasl.password": PASSWORD,
        "plugin.path": str(plugin_path),
    }

    def moved(config: dict[str, str]) -> RunReport:
        return run(RunSpec(config, worker, run_id="run"))

    numbered.append(10)
    source = java_source()
    moved(source)
    moved(java_sink(source["topic"]))
    assert (tmp_path / "out.txt").read_text() == (tmp_path / "in.txt").read_text() != ""
