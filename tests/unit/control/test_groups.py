"""Whose offsets a configuration reaches by naming a group."""

from __future__ import annotations

import pytest

from airflow_kconnect.control.groups import EVERYTHING, newly_named, of_offsets
from airflow_kconnect.stores.config_topic.state import ConnectorState

SINK, HOSTED = "consumer.override.group.id", "kconnect.hosted.group.id"


def registered(**connectors: dict[str, str]) -> dict[str, ConnectorState]:
    return {name: ConnectorState(name, texts) for name, texts in connectors.items()}


@pytest.mark.parametrize(
    ("config", "owners"),
    [
        pytest.param({}, [], id="its own by default"),
        pytest.param({SINK: "connect-a"}, [], id="its own by name"),
        pytest.param({SINK: "connect-b"}, ["b"], id="that of a registered connector"),
        pytest.param({SINK: "connect-elsewhere"}, ["elsewhere"], id="that of a connector of a DAG"),
        pytest.param({SINK: " old "}, ["c"], id="one that another has named"),
        pytest.param({SINK: "shop"}, [], id="any other"),
        pytest.param({HOSTED: "kc-b"}, ["b"], id="the hosting worker of another"),
        pytest.param({HOSTED: "cluster"}, ["d"], id="the hosting worker that another has named"),
        pytest.param({SINK: "${env:GROUP}"}, [EVERYTHING], id="a variable may be any"),
    ],
)
def test_who_owns_the_group_that_a_configuration_names(config: dict[str, str], owners: list[str]) -> None:
    others = registered(b={}, c={SINK: "old"}, d={HOSTED: "cluster"})
    assert newly_named("a", config, others, "kc") == owners


def test_what_is_registered_already_is_not_asked_for_again() -> None:
    known = registered(a={SINK: "connect-b", "tasks.max": "1"}, b={})
    assert newly_named("a", {SINK: "connect-b", "tasks.max": "2"}, known, "kc") == []


@pytest.mark.parametrize(
    ("group", "owners"),
    [("connect-a", []), ("connect-b", ["b"]), ("shop", [EVERYTHING])],
)
def test_whose_offsets_a_sink_has(group: str, owners: list[str]) -> None:
    assert of_offsets({"name": "a", SINK: group}, registered(b={}), "kc") == owners
