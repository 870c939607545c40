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

from airflow_kconnect.connect.validation.connector import validate_connector
from airflow_kconnect.runtime.preview import preview

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
_EXAMPLE = re.compile(
    r"```jsonc\n(?P<config>.*?)```(?:\n+`(?P<before>[^`]+)` becomes\s`(?P<after>[^`]+)`\.)?", re.DOTALL
)
_PLAIN = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def _examples() -> Iterator[Any]:
    for match in _EXAMPLE.finditer((GUIDES / "transformations.md").read_text(encoding="utf-8")):
        config = json.loads(match["config"])
        name = next(text for key, text in config.items() if key.endswith(".type")).rpartition(".")[2]
        yield pytest.param(config, match["before"], match["after"], id=name)


EXAMPLES = list(_examples())


@pytest.mark.parametrize(("config", "before", "after"), EXAMPLES)
def test_every_example_is_valid(config: dict[str, str], before: str | None, after: str | None) -> None:
    connector = {"name": "n", "connector.class": "DirectorySink", "topics": "orders", "directory": "/data", **_PLAIN}
    assert validate_connector(connector | config).warnings == []


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("config", "before", "after"), [example for example in EXAMPLES if example.values[1]])
def test_every_result_is_right(config: dict[str, str], before: str, after: str) -> None:
    (answer,) = preview(_PLAIN | config, [{"topic": "orders", "value": before}])
    assert json.loads(answer["value"]) == json.loads(after)


@pytest.mark.usefixtures("spark")
def test_the_own_transformation_passes_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (GUIDES / "own-transformations.md").read_text(encoding="utf-8")
    code, tests = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    module = ModuleType("cents")
    monkeypatch.setitem(sys.modules, "cents", module)
    exec(code, vars(module))  # noqa: S102 - our own documentation
    checks: dict[str, Any] = {}
    exec(tests, checks)  # noqa: S102 - our own documentation
    found = [check for name, check in checks.items() if name.startswith("test_")]
    assert len(found) == 2
    for check in found:
        check()
