"""The configuration of ExtractField, and its paths."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.extract_field import ExtractFieldValue, field_path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ("a",)),
        ("a.b.c", ("a", "b", "c")),
        ("a.", ("a", "")),
        ("..", ("", "", "")),
        ("`a`.b", ("a", "b")),
        ("`a.b`.`c.d`", ("a.b", "c.d")),
        ("a`b.c`", ("a`b", "c`")),
        ("`a`b`", ("a`b",)),
        ("`a``", ("a`",)),
        ("``", ("",)),
        ("```", ("`",)),
        (r"`a\`.b`", ("a`.b",)),
        (r"`a\`b`", (r"a\`b",)),
        ("`a`.", ("a", "")),
        ("a.`b\n.c`.d", ("a", "b\n.c", "d")),
        ("", ("",)),
    ],
)
def test_paths_in_steps(text: str, names: tuple[str, ...]) -> None:
    assert field_path(text) == names


@pytest.mark.parametrize(
    ("text", "position"),
    [("`", 0), ("`a", 0), ("`a`b", 0), (r"`a\`", 0), ("a.`b", 2), (r"`a\\`.b", 0), ("`a`.`b", 4)],
)
def test_backticks_come_in_pairs(text: str, position: int) -> None:
    advice = f"consider adding a backslash before backtick at position {position} to escape it"
    errors = {"field": [f"Incomplete backtick pair in path: [{text}], {advice}"]}
    assert ExtractFieldValue.validate({"field": text, "field.syntax.version": "v2"}) == errors
    assert ExtractFieldValue.validate({"field": text}) == {}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "field" which has no default value'),
        ({"field": "a", "field.syntax.version": "V3"}, r"String must be one of \(case insensitive\): V1, V2"),
    ],
)
def test_wrong_values(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ExtractFieldValue(config)
