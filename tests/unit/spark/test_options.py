"""Options of a read: which are the connector's keys, in which case, and which belong to the data source."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.spark.opened import opened
from airflow_kconnect.spark.options import ReadOptions, in_their_case, split
from airflow_kconnect.spark.plugins import GivenClass, Registered
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connectors import read_by_spark

WORKER = WorkerConfig.defaults()
ORDERS = Registered({"orders": GivenClass("orders", read_by_spark.orders.plugin_class)})


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with ORDERS.found():
        yield


def errors_of(**options: str) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        split(options)
    return caught.value.errors


def test_options_are_keys_of_the_connector() -> None:
    keys = {"connector.class": "orders", "since": "2026"}
    assert split(keys) == (ReadOptions(), {}, keys)


def test_options_of_the_data_source_are_not_keys() -> None:
    options = split({"includemetadata": "TRUE", "subscribe": "a, b", "readahead": "7"})
    assert options == (ReadOptions(metadata=True, topics=("a", "b"), ahead=7), {}, {})


@pytest.mark.parametrize("as_answer", [True, False])
def test_offsets_are_those_that_connect_has(as_answer: bool) -> None:
    offsets = [
        {"partition": {"source": "a"}, "offset": {"id": 7}},
        {"partition": {"source": "b"}, "offset": None},
    ]
    own = split({"startingoffsets": json.dumps({"offsets": offsets} if as_answer else offsets)})[0]
    assert own.offsets == {'{"source":"a"}': {"id": 7}}


def test_earliest_is_the_beginning() -> None:
    assert split({"startingoffsets": "earliest"})[0].offsets is None


@pytest.mark.parametrize("text", ["latest", "{", '{"orders": {"0": 23}}', '[{"partition": 1, "offset": {}}]', "[7]"])
def test_other_offsets_are_an_error(text: str) -> None:
    (message,) = errors_of(startingoffsets=text)["startingOffsets"]
    assert "expected `earliest`" in message or "is not JSON" in message


def test_all_wrong_options_are_named() -> None:
    errors = errors_of(includemetadata="yes", readahead="0", subscribe=" ,", config="[]", endingoffsets="latest")
    assert set(errors) == {"includeMetadata", "readAhead", "subscribe", "config", "endingOffsets"}


@pytest.mark.parametrize("config", [{"a": 1, "B": True}, {"name": "n", "config": {"a": 1, "B": True}}])
def test_a_whole_configuration_keeps_the_case_of_its_keys(config: dict[str, object]) -> None:
    whole = split({"config": json.dumps(config)})[1]
    assert {"a": "1", "B": "true"}.items() <= whole.items()


def test_a_whole_configuration_has_no_options_of_the_data_source() -> None:
    assert "set it as an option" in errors_of(config='{"includeMetadata": true}')["config"][0]


def test_an_option_wins_over_the_same_key_of_the_configuration() -> None:
    keys = in_their_case({"connector.class": "orders", "apiKey": "1"}, {"apikey": "2"}, WORKER)
    assert keys == {"connector.class": "orders", "apiKey": "2"}


def test_a_key_gets_the_case_that_the_connector_gives_it() -> None:
    source = opened({"connector.class": "orders", "apikey": "K"}, ORDERS)
    assert source.config.props["apiKey"] == "K"


def test_keys_that_nobody_defines_stay_as_spark_gives_them() -> None:
    assert in_their_case({"connector.class": "orders"}, {"what.is": "this"}, WORKER)["what.is"] == "this"


@pytest.fixture
def defines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`defines("key", ...)`: the keys of the connector."""

    def define(*keys: str) -> None:
        definition = ConfigDef()
        for key in keys:
            definition.define(key, Type.STRING, "")
        monkeypatch.setattr(read_by_spark.orders.plugin_class, "config", lambda: definition)

    return define


def test_keys_that_differ_in_their_case_only_are_an_error(defines: Callable[..., None]) -> None:
    defines("twice", "Twice")
    with pytest.raises(ConfigError, match="do not tell twice from Twice"):
        in_their_case({}, {"connector.class": "orders", "twice": "x"}, WORKER)


def test_a_connector_with_a_key_of_the_data_source_is_an_error(defines: Callable[..., None]) -> None:
    defines("subscribe")
    with pytest.raises(ConfigError, match="`subscribe`: is an option of the data source"):
        in_their_case({}, {"connector.class": "orders"}, WORKER)
