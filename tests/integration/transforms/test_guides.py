"""The guides to transformations: what their examples say is true."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from airflow_kconnect.runtime.preview import preview
from airflow_kconnect.validation.connector import validate_connector

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
_EXAMPLE = re.compile(
    r"```jsonc\n(?P<config>.*?)```(?:\n+`(?P<before>[^`]+)` (?P<how>becomes|gets the key)\s`(?P<after>[^`]+)`\.)?",
    re.DOTALL,
)
_PARTS = {None: None, "becomes": "value", "gets the key": "key"}
_PLAIN = {
    **{f"{part}.converter": "org.apache.kafka.connect.json.JsonConverter" for part in ("key", "value")},
    **{f"{part}.converter.schemas.enable": "false" for part in ("key", "value")},
}


def _examples() -> Iterator[Any]:
    for match in _EXAMPLE.finditer((GUIDES / "transformations.md").read_text(encoding="utf-8")):
        config = json.loads(match["config"])
        name = next(text for key, text in config.items() if key.endswith(".type")).rpartition(".")[2]
        yield pytest.param(config, match["before"], _PARTS[match["how"]], match["after"], id=name)


EXAMPLES = list(_examples())


@pytest.mark.parametrize("config", [pytest.param(example.values[0], id=example.id) for example in EXAMPLES])
def test_every_example_is_valid(config: dict[str, str]) -> None:
    connector = {"name": "n", "connector.class": "DirectorySink", "topics": "orders", "directory": "/data", **_PLAIN}
    assert validate_connector(connector | config).warnings == []


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("config", "before", "part", "after"), [example for example in EXAMPLES if example.values[1]])
def test_every_result_is_right(config: dict[str, str], before: str, part: str, after: str) -> None:
    (answer,) = preview(_PLAIN | config, [{"topic": "orders", "value": before}])
    assert json.loads(answer[part]) == json.loads(after)


def _own_transformations() -> list[str]:
    """The Python of the guide: a function, a class, and tests of the class."""
    text = (GUIDES / "own-transformations.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_function_of_the_guide_changes_and_drops_records() -> None:
    function, _, _ = _own_transformations()
    module: dict[str, Any] = {"__name__": "shop"}
    exec(function, module)  # noqa: S102 - our own documentation
    assert [module["priced"](record) for record in ({"price": 10}, {"price": 0})] == [{"price": 11.0}, None]


@pytest.mark.usefixtures("spark")
def test_the_own_transformation_passes_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    _, code, tests = _own_transformations()
    module = ModuleType("cents")
    monkeypatch.setitem(sys.modules, "cents", module)
    exec(code, vars(module))  # noqa: S102 - our own documentation
    checks: dict[str, Any] = {}
    exec(tests, checks)  # noqa: S102 - our own documentation
    found = [check for name, check in checks.items() if name.startswith("test_")]
    assert len(found) == 2
    for check in found:
        check()
