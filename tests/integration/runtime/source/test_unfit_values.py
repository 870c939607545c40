"""Values of a Python source that no column can hold: bad records, and never the end of Spark's worker."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.source.run import SourceRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connectors.priced_source import PricedSource
from tests.support.kafka import read_values

PRICES = "1.25,0E-999999999,3"
JSON = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "value.converter.decimal.format": "NUMERIC",
}


def test_the_error_names_the_position_and_can_be_skipped(
    topic: Callable[..., str], worker_props: dict[str, str], spark: SparkSession, bootstrap: str
) -> None:
    own = {"topic": topic(), "prices": PRICES}
    base = {"name": unique("priced"), "connector.class": "VerifiableSource", "topic": own["topic"], **JSON}

    def run(**more: str) -> RunReport:
        config = validate_connector({**base, **more})
        settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
        return SourceRun(settings, PricedSource({**config.props, **own}), LazySession("priced", spark)).run()

    with pytest.raises(DataError, match=r'bad record at .*"n": 1.*Decimal has 999999999 digits after the point'):
        run()
    report = run(**{"errors.tolerance": "all"})
    found = [json.loads(value or b"") for value in read_values(bootstrap, own["topic"])]
    assert found == [{"price": 1.25}, {"price": 3.00}]
    assert report.records["dead_lettered"] == 1
