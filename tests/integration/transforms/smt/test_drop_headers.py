"""DropHeaders, and the predicates about headers and topics."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.runtime.preview import preview

CONNECT = "org.apache.kafka.connect"
STRINGS = {f"{role}.converter": f"{CONNECT}.storage.StringConverter" for role in ("key", "value", "header")}


def _record(topic: str, *headers: str) -> dict[str, Any]:
    return {"topic": topic, "value": "v", "headers": [{"key": key, "value": key.upper()} for key in headers]}


RECORDS = [_record("a"), _record("ab", "x"), _record("abc", "x", "y", "x"), _record("b", "y")]


def test_all_headers_of_the_names_go() -> None:
    config = {
        "transforms": "t",
        "transforms.t.type": f"{CONNECT}.transforms.DropHeaders",
        "transforms.t.headers": "x, z",
    }
    answers = preview({**STRINGS, **config}, RECORDS)
    assert [[header["key"] for header in answer["headers"]] for answer in answers] == [[], [], ["y"], ["y"]]


@pytest.mark.parametrize(
    ("predicate", "config", "dropped"),
    [
        ("HasHeaderKey", {"name": "x"}, [False, True, True, False]),
        ("HasHeaderKey", {"name": "X"}, [False, False, False, False]),
        ("TopicNameMatches", {"pattern": "a|ab"}, [True, True, False, False]),
    ],
)
def test_predicates(predicate: str, config: dict[str, str], dropped: list[bool]) -> None:
    props = {
        "transforms": "t",
        "transforms.t.type": f"{CONNECT}.transforms.Filter",
        "transforms.t.predicate": "p",
        "predicates": "p",
        "predicates.p.type": f"{CONNECT}.transforms.predicates.{predicate}",
        **{f"predicates.p.{key}": value for key, value in config.items()},
    }
    answers = preview({**STRINGS, **props}, RECORDS)
    assert ["dropped" in answer for answer in answers] == dropped
