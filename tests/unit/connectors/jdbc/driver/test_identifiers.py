"""Quoting of names."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.jdbc.driver.identifiers import quote


@pytest.mark.parametrize(
    ("name", "mark", "expected"),
    [
        ("orders", '"', '"orders"'),
        ("a.b c", '"', '"a.b c"'),
        ('a"; drop table x;--', '"', '"a""; drop table x;--"'),
        ("a`b", "`", "`a``b`"),
        ('a"b', "`", '`a"b`'),
    ],
)
def test_quotes(name: str, mark: str, expected: str) -> None:
    assert quote(name, mark) == expected


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_refuses_what_is_not_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        quote(name)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_database_reads_the_name_back(name: str) -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"create table canary (id integer, {quote('x' + name)} text)")
        assert [row[1] for row in connection.execute("pragma table_info(canary)")] == ["id", "x" + name]
