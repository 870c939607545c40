"""Connector files in YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.preflight import connector_config


def load(folder: Path, text: str) -> dict[str, str]:
    file = folder / "orders.yaml"
    file.write_text(text)
    return connector_config(file)


def test_a_map_with_name_and_config_is_made_flat(tmp_path: Path) -> None:
    text = "# a comment\nname: orders\nconfig:\n  topics: orders\n"

    assert load(tmp_path, text) == {"name": "orders", "topics": "orders"}


def test_a_plain_map_is_taken_as_it_is(tmp_path: Path) -> None:
    assert load(tmp_path, "name: orders\ntopics: orders\n") == {"name": "orders", "topics": "orders"}


def test_values_are_text_as_it_is_written(tmp_path: Path) -> None:
    text = "a: on\nb: 01\nc: 2026-01-01\nd: 1e3\ne: null\nf: ${env:HOME}\n"

    assert load(tmp_path, text) == {
        "a": "on",
        "b": "01",
        "c": "2026-01-01",
        "d": "1e3",
        "e": "null",
        "f": "${env:HOME}",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML: .* at line 1, column 5"),
        ("", "not a map of configuration keys"),
        ("- a\n", "not a map of configuration keys"),
        ("name: a\nname: b\n", "has the key `name` twice"),
        ("name: a\nconfig:\n  x: 1\n  x: 2\n", "has the key `x` twice"),
    ],
)
def test_a_file_that_is_wrong_is_one_error_with_its_path(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, text)

    assert list(caught.value.errors) == [str(tmp_path / "orders.yaml")]


def test_no_value_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="found undefined alias at line 1") as caught:
        load(tmp_path, "connection.password: *canary77\n")

    assert "canary77" not in str(caught.value)


def test_values_that_are_not_text_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "name: a\ntopics: [a, b]\n")

    assert list(caught.value.errors) == ["topics"]
