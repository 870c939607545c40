"""`transaction.boundary=connector`: a Python source says where its transactions end."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.verifiable.source import VerifiableSourceConnector
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.source.run import SourceRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support import unique
from tests.support.connectors.transactional_source import TransactionalSource
from tests.support.kafka import read_values

SCHEMALESS = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "transaction.boundary": "connector",
}


@pytest.mark.parametrize("keys", [{}, NEEDS_SPARK], ids=["without Spark", "through Spark"])
def test_only_transactions_that_the_task_has_committed_are_visible(
    keys: dict[str, str],
    topic: Callable[..., str],
    worker_props: dict[str, str],
    spark: SparkSession,
    bootstrap: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        VerifiableSourceConnector, "can_define_transaction_boundaries", classmethod(lambda cls, props: True)
    )
    base = {"name": unique("bounded"), "connector.class": "VerifiableSource", "topic": topic(), **SCHEMALESS, **keys}

    def run(records: int) -> RunReport:
        config = validate_connector(base)
        settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
        connector = TransactionalSource({**config.props, "records": str(records)})
        return SourceRun(settings, connector, LazySession("bounded", spark)).run()

    def visible() -> list[int]:
        return [int(json.loads(value or b"")) for value in read_values(bootstrap, base["topic"])]

    first = run(8)
    assert (visible(), first.incomplete) == ([0, 1, 2], ["held_back"])
    assert (first.records["written"], first.records["filtered"]) == (3, 3)
    assert [offset["offset"] for offset in first.offsets] == [{"n": 5}]
    second = run(12)
    assert (visible(), second.complete, second.records["written"]) == ([0, 1, 2, 6, 7, 8], True, 3)
    assert run(12).records["read"] == 0
