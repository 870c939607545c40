"""How operators, hook and commands take a connector: by its name, or by its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.submit.operations import is_name, registered_name


@pytest.mark.parametrize("connector", ["orders", "orders.v2", "orders json"])
def test_a_text_is_a_name(connector: str) -> None:
    assert is_name(connector)


@pytest.mark.parametrize(
    "connector",
    [{"name": "orders"}, ' {"name": "orders"}', Path("orders"), "orders.json", "orders.properties", "a.yaml", "a.yml"],
    ids=str,
)
def test_a_configuration_and_its_file_are_not(connector: Any) -> None:
    assert not is_name(connector)


def test_a_file_wins_over_a_name_and_a_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "lines").touch()
    assert registered_name("orders", tmp_path) == "orders"
    assert registered_name("lines", tmp_path) is None
