"""Values of a Python source that no column can hold: bad records, and never the end of Spark's worker."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError
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


@pytest.fixture
def priced(
    topic: Callable[..., str], worker_props: dict[str, str], spark: SparkSession
) -> Callable[..., tuple[SourceRun, str]]:
    """`priced(**keys)`: a run over three prices, and its topic."""

    def make(**more: str) -> tuple[SourceRun, str]:
        own = {"topic": topic(), "prices": PRICES}
        base = {"name": unique("priced"), "connector.class": "VerifiableSource", "topic": own["topic"]}
        config = validate_connector({**base, **JSON, **more})
        settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
        return SourceRun(settings, PricedSource({**config.props, **own}), LazySession("priced", spark)), own["topic"]

    return make


def test_the_error_names_the_position(priced: Callable[..., tuple[SourceRun, str]]) -> None:
    source, _ = priced()
    with pytest.raises(DataError, match=r'bad record at .*"n": 1.*Decimal has 999999999 digits after the point'):
        source.run()


def test_it_can_be_skipped(priced: Callable[..., tuple[SourceRun, str]], bootstrap: str) -> None:
    source, topic = priced(**{"errors.tolerance": "all"})
    report = source.run()
    assert [json.loads(value or b"") for value in read_values(bootstrap, topic)] == [{"price": 1.25}, {"price": 3.00}]
    assert (report.records["written"], report.records["dead_lettered"]) == (2, 1)
