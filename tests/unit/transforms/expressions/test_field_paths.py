"""Paths of fields, and the fields on them."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.data import INT32_SCHEMA, STRING_SCHEMA, struct
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.transforms.expressions.field_paths import FieldPath

_SCHEMA = struct(("a", struct(("b.c", STRING_SCHEMA))), ("d", INT32_SCHEMA))


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
    assert FieldPath.read("field", text, "V2") == FieldPath(text, names)


@pytest.mark.parametrize(
    ("text", "position"),
    [("`", 0), ("`a", 0), ("`a`b", 0), (r"`a\`", 0), ("a.`b", 2), (r"`a\\`.b", 0), ("`a`.`b", 4)],
)
def test_backticks_come_in_pairs(text: str, position: int) -> None:
    advice = f"consider adding a backslash before backtick at position {position} to escape it"
    with pytest.raises(ConfigError) as caught:
        FieldPath.read("fields", text, "v2")
    assert caught.value.errors == {"fields": [f"Incomplete backtick pair in path: [{text}], {advice}"]}


@pytest.mark.parametrize("text", ["a.b", "`a", "a.", ""])
def test_a_name_is_the_text(text: str) -> None:
    assert FieldPath.read("field", text, "v1") == FieldPath(text, (text,))


@pytest.mark.parametrize(
    ("text", "found"),
    [("a", ["a"]), ("a.`b.c`", ["a", "b.c"]), ("a.b.c", []), ("a.nothing", []), ("nothing.b", []), ("a.", [])],
)
def test_fields_on_the_way(text: str, found: list[str]) -> None:
    fields = FieldPath.read("field", text, "V2").fields(_SCHEMA)
    assert [field.name for field in fields] == found


@pytest.mark.parametrize("text", ["d.e", "d.e.f", "a.`b.c`.d"])
def test_only_structs_have_fields(text: str) -> None:
    with pytest.raises(DataError, match="Cannot look up fields on non-struct type"):
        FieldPath.read("field", text, "V2").fields(_SCHEMA)
