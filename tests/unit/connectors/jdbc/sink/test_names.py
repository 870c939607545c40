"""JDBC sinks: from topics to names of tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.jdbc.sink.naming import Naming, quoted, table_name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("orders", ("orders",)),
        ("shop.orders", ("shop", "orders")),
        ("db.shop.orders", ("db", "shop", "orders")),
        ('"a.b"', ("a.b",)),
        ('"a.b".c', ("a.b", "c")),
        ('a."b ""c"', ("a", 'b "c')),
        ('a"; drop table x;--', ('a"; drop table x;--',)),
        ('"half', ('"half',)),
        ("ünï", ("ünï",)),
    ],
)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    assert table_name(text) == parts


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '""', "a.b.c.d", "a\0b"])
def test_what_is_not_a_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"part|NUL"):
        table_name(text)


@given(st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1), min_size=1, max_size=3))
def test_quoted_names_come_back(parts: list[str]) -> None:
    assert table_name(quoted(tuple(parts))) == tuple(parts)
    assert table_name(quoted(tuple(parts), "`"), "`") == tuple(parts)


class TestNaming:
    def test_format(self) -> None:
        assert Naming("raw.k_${topic}").table("orders") == ("raw", "k_orders")

    def test_topics_with_dots_name_the_schema(self) -> None:
        assert Naming().table("shop.orders") == ("shop", "orders")

    def test_mapping_goes_first(self) -> None:
        assert Naming("k_${topic}", {"a": "s.b"}).table("a") == ("s", "b")

    def test_normalised(self) -> None:
        assert Naming("raw.${topic}", normalize=True).table("my-topic.ü") == ("raw", "my_topic__")

    def test_folded(self) -> None:
        naming = Naming(fold=True)
        assert (naming.table("Shop.Orders"), naming.column("Id")) == (("shop", "orders"), "id")
