"""The connector that options name: what is refused, and what errors say."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.source import NativeSourceConnector
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.spark.opened import ErrorsNamed, OpenedSource, opened
from airflow_kconnect.spark.plugins import GivenClass, Registered
from airflow_kconnect.variables.hidden_values import HiddenValues
from tests.support.connectors import read_by_spark


def source(name: str, worker: dict[str, str] | None = None, /, **options: Any) -> OpenedSource:
    """One of `read_by_spark`; underscores of options are dots."""
    plugin = getattr(read_by_spark, name)
    given = Registered({name: GivenClass(name, getattr(plugin, "plugin_class", plugin))}, worker or {})
    texts = {key.replace("_", "."): str(text) for key, text in options.items()}
    return opened({"connector.class": name, **texts}, given)


def problems(connector_class: str, **options: str) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        opened({"connector.class": connector_class, **options}, Registered())
    return caught.value.errors


def test_its_name_is_that_of_the_class() -> None:
    assert source("orders").name == "orders"


def test_a_name_may_be_given() -> None:
    assert source("orders", name="mine").name == "mine"


@pytest.mark.parametrize(
    ("connector_class", "instead"),
    [
        ("JdbcSource", 'spark.read.format("jdbc")'),
        ("FileStreamSource", "spark.read.text"),
        ("SparkTableSource", "spark.read.table"),
        ("SpoolDirCsvSource", "spark.read.csv"),
        ("SpoolDirAvroSource", 'spark.read.format("avro")'),
    ],
)
def test_what_spark_reads_itself_is_refused_with_what_to_use(connector_class: str, instead: str) -> None:
    (message,) = problems(connector_class)["connector.class"]
    assert f"has no tasks in Python. Spark reads this itself: {instead}" in message


def test_any_other_source_without_tasks_is_to_be_run() -> None:
    class Jdbc(NativeSourceConnector):
        config = ConfigDef

    with pytest.raises(ConfigError, match="Run it with `kconnect run`"):
        opened({"connector.class": "Jdbc"}, Registered({"Jdbc": GivenClass("Jdbc", Jdbc)}))  # type: ignore[type-abstract]


def test_a_sink_is_refused() -> None:
    assert any("sink" in text for text in problems("DirectorySink")["connector.class"])


def test_all_errors_are_told_at_once() -> None:
    errors = problems("nope", transforms="a", **{"tasks.max": "x"})
    assert {"connector.class", "transforms", "tasks.max"} <= set(errors)


def test_transformations_and_dead_letters_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        source("orders", transforms="", errors_deadletterqueue_topic_name="dead")
    assert set(caught.value.errors) == {"errors.deadletterqueue.topic.name"}


def test_variables_are_those_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "K-17")
    provider = {
        "config.providers": "e",
        "config.providers.e.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    assert source("orders", provider, apikey="${e:SHOP_KEY}").config.props["apiKey"] == "K-17"


def test_errors_name_the_connector_and_no_value_of_a_variable() -> None:
    hidden = HiddenValues()
    hidden.add("s3cret", "${env:KEY}")
    with pytest.raises(DataError) as caught, ErrorsNamed("orders", hidden):
        raise DataError("no access with s3cret")
    assert str(caught.value) == "connector orders: no access with ${env:KEY}"


def test_a_bound_is_shared_by_the_tasks() -> None:
    settings = source("sales", shops="a,b,c", tasks_max=3, kconnect_max_records=5).polling()
    assert settings.max_records == (2, 2, 1)
