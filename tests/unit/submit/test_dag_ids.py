"""Ids of the DAGs of registered connectors."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.submit.dag_ids import dag_id_of


def test_the_id_is_the_name() -> None:
    assert dag_id_of("orders-source.v2") == "kconnect.orders-source.v2"


def test_names_that_look_the_same_differ_by_a_hash() -> None:
    assert [dag_id_of(name) for name in ("a_b", "a b", "a/b")] == [
        "kconnect.a_b",
        "kconnect.a_b-c8687a08aa5d6ed2",
        "kconnect.a_b-c14cddc033f64b9d",
    ]


def test_a_name_made_to_look_like_another_id_has_one_of_its_own() -> None:
    assert dag_id_of("a_b-c8687a08aa5d6ed2") != dag_id_of("a b")


@given(st.sets(st.text(min_size=1, max_size=300), max_size=20))
def test_ids_are_unique_and_airflow_allows_them(names: set[str]) -> None:
    ids = [dag_id_of(name) for name in names]

    assert len(set(ids)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,250}", dag_id) for dag_id in ids)
