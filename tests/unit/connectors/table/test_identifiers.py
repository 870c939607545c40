"""Names of tables and columns in Spark's SQL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.table.identifiers import column_path, identifier, parts_of, quoted

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("lake", "db", "orders"), "lake.db.orders"),
        (("lake", "db", "new orders"), "lake.db.`new orders`"),
        (("db", "orders.eu"), "db.`orders.eu`"),
        (("db", "2024"), "db.`2024`"),
        (("db", "a`b"), "db.`a``b`"),
        (("größen",), "`größen`"),
    ],
)
def test_names_are_quoted_where_sql_needs_it(parts: tuple[str, ...], expected: str) -> None:
    assert identifier(parts) == expected


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_an_identifier_can_be_taken_apart(parts: list[str]) -> None:
    assert parts_of(identifier(parts)) == tuple(parts)
    assert parts_of(column_path(parts)) == tuple(parts)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a. "])
def test_what_is_no_identifier_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a part of it is empty"):
        parts_of(text)


def test_backticks_in_a_name_are_doubled() -> None:
    assert quoted("a`b") == "`a``b`"
