"""Names of tables: what topics and records may put into them, and what Spark's SQL gets."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.identifiers import parts_of
from airflow_kconnect.connectors.table.routing.routing import full_name, name_format, own_name, table_of, with_suffix
from airflow_kconnect.connectors.table.settings import Routing

LAKE = Routing("shop.${topic}", prefix=("lake",))


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("orders", "lake.shop.orders"),
        ("eu.orders", "lake.shop.eu.orders"),
        ("eu-orders", "lake.shop.`eu-orders`"),
        ("2024", "lake.shop.`2024`"),
        ("a`; DROP TABLE x; --", "lake.shop.`a``; DROP TABLE x; --`"),
        ("`a.b`", "lake.shop.`a.b`"),
    ],
)
def test_a_name_is_nothing_but_a_name(topic: str, name: str) -> None:
    assert full_name(LAKE, table_of(LAKE, topic)) == name


@pytest.mark.parametrize("text", ["", ".", "a..b", " ", "a.", "a\nb"])
def test_what_has_no_parts_is_no_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"it has|a part of it"):
        parts_of(text)


def test_a_full_name_is_read_back() -> None:
    name = full_name(LAKE, "shop.`a.b`")
    assert (parts_of(name), own_name(LAKE, name)) == (("lake", "shop", "a.b"), "shop.`a.b`")


def test_records_that_say_where_they_go_need_no_format() -> None:
    assert name_format(Routing(value_field="kind")) == "${route}"
    assert name_format(Routing("lake.${route}", value_field="kind")) == "lake.${route}"


def test_a_table_next_to_another_has_the_same_namespace() -> None:
    assert with_suffix("shop.`a.b`", "__dlq") == "shop.`a.b__dlq`"
