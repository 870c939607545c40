"""Decorated functions stay functions, and give operators a connector's JSON."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.functions.sink import sink
from airflow_kconnect.functions.source import source
from airflow_kconnect.functions.transform import transform
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.spec import PLUGINS, RunSpec, run_spec_file
from airflow_kconnect.validation.connector import validate_connector
from tests.support import unique

SHOP = '''
from airflow_kconnect.sdk import source

@source(topic="prices", key="sku", cursor="changed")
def prices(path: str, tenants: list[str] = (), quick: bool = False, only: dict | None = None, ids: list[int] = ()):
    """Prices of a shop."""
    yield {"sku": path, "changed": 1}
'''


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """What a configuration adds to the registry is not there for other tests."""
    yield
    registry.cache_clear()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module next to a DAG, imported as the DAG does."""
    name = unique("shop").replace("-", "_")
    path = tmp_path / f"{name}.py"
    path.write_text(SHOP)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


def test_it_can_be_called_as_before(shop: Any) -> None:
    assert list(shop.prices("/a")) == [{"sku": "/a", "changed": 1}]


def test_an_operator_gets_the_json_of_a_connector(shop: Any) -> None:
    made = shop.prices.configured("shop-prices", path="/a", tenants=["x", "y"], quick=True, tasks__max=2)
    config = {"path": "/a", "tenants": "x,y", "quick": "true", "tasks.max": "2"}
    assert made == {"name": "shop-prices", "config": {"connector.class": f"{shop.__name__}.prices", **config}}


def test_a_value_that_no_key_has_is_written_as_json(shop: Any) -> None:
    config = shop.prices.configured(path="/a", only={"sku": "x"}, ids=[1, 2])["config"]
    assert (config["only"], config["ids"]) == ('{"sku": "x"}', "[1, 2]")


def test_none_leaves_a_key_out(shop: Any) -> None:
    assert "only" not in shop.prices.configured(path="/a", only=None)["config"]


def test_which_is_valid(shop: Any) -> None:
    made = shop.prices.configured(path="/a")
    assert validate_connector({"name": made["name"], **made["config"]}).kind == "source"


def test_the_job_gets_the_file(shop: Any) -> None:
    made = shop.prices.configured(path="/a")
    with run_spec_file(RunSpec({"name": made["name"], **made["config"]}, {})) as path:
        (file,) = json.loads(path.read_text())[PLUGINS]
    assert file == {"path": shop.__file__, "text": SHOP}


def test_a_configuration_without_its_keys_is_not_valid(shop: Any) -> None:
    made = shop.prices.configured()
    with pytest.raises(ConfigError, match="path"):
        validate_connector({"name": made["name"], **made["config"]})


def test_the_class_says_what_the_function_is_about(shop: Any) -> None:
    name = shop.prices.configured(path="/a")["config"]["connector.class"]
    assert registry().connector(name).summary == "Prices of a shop."


def by_state(state: dict[str, Any], cursor: int) -> list[Any]:
    return []


def by_cursor(cursor: int) -> list[Any]:
    return []


def by_partition(partition: str) -> list[Any]:
    return []


async def without_yield() -> list[Any]:
    return []


def of_tenants(tenants: list[str]) -> list[str]:
    return tenants


@pytest.mark.parametrize(
    ("function", "options", "text"),
    [
        (without_yield, {}, "an `async` function has to yield"),
        (by_partition, {"partitions": of_tenants}, "its partitions want `tenants`"),
        (by_state, {"cursor": "id"}, "it has a cursor and a state"),
        (by_cursor, {}, "say which field its parameter `cursor` is"),
        (by_partition, {}, "say which partitions there are"),
    ],
)
def test_a_decorator_refuses_what_cannot_work(function: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        source(**options)(function)


async def awaited(records: list[Any]) -> None:
    raise AssertionError


def yielding(records: list[Any]) -> Any:
    yield from records


@pytest.mark.parametrize("decorator", [sink, transform])
@pytest.mark.parametrize("function", [awaited, yielding])
def test_a_call_that_only_begins_a_function_does_not_count_as_done(decorator: Any, function: Any) -> None:
    with pytest.raises(TypeError, match="it must be done when it returns"):
        decorator(function)
