"""TimestampConverter on whole records; answers are those of Kafka Connect."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.runtime.preview import preview

JSON = "org.apache.kafka.connect.json.JsonConverter"
TYPE = "org.apache.kafka.connect.transforms.TimestampConverter$Value"
NUMBER = {"type": "int64", "optional": True}
NOT_OBJECTS = "Only Map objects supported in absence of schema for [converting timestamp formats], found: "
NOT_STRUCTS = "Only Struct objects supported for [converting timestamp formats], found: "


def _converted(values: list[Any], *stages: dict[str, str], schemas: bool = True) -> list[Any]:
    """The values after the stages: payloads, or the texts of errors; with `schemas` schema and payload."""
    config = {"key.converter": JSON, "value.converter": JSON, "value.converter.schemas.enable": str(schemas).lower()}
    config["transforms"] = ",".join(f"t{n}" for n in range(len(stages)))
    for n, stage in enumerate(stages):
        config |= {f"transforms.t{n}.{key}": value for key, value in {"type": TYPE, **stage}.items()}
    answers = preview(config, [{"value": None if value is None else json.dumps(value)} for value in values])
    return [answer["error"]["message"] if "error" in answer else _parsed(answer["value"]) for answer in answers]


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _struct(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields), "optional": False, "name": "N", "version": 3, "doc": "d", **more}


def test_fields_of_structs() -> None:
    a, b = {**NUMBER, "field": "a"}, {"type": "string", "optional": False, "field": "b"}
    required = {"type": "int64", "optional": False, "default": 7, "field": "a"}
    text = {"type": "string", "optional": True, "field": "a"}
    values = [
        {"schema": _struct(a, b), "payload": {"a": 1500, "b": "x"}},
        {"schema": _struct(a, b, optional=True), "payload": None},
        {"schema": _struct(required), "payload": {"a": None}},
        {"schema": _struct(b), "payload": {"b": "x"}},
        {"schema": _struct({**a, "type": "double"}, optional=True), "payload": None},
        {"schema": _struct({**a, "type": "double"}), "payload": {"a": None}},
        {"schema": {"type": "array", "items": NUMBER, "optional": False}, "payload": [1]},
        {"schema": {"type": "string", "optional": True}, "payload": None},
    ]
    assert _converted(values, {"field": "a", "target.type": "string", "format": "s.SSS"}) == [
        {"schema": _struct(text, b), "payload": {"a": "1.500", "b": "x"}},
        {"schema": _struct(text, b, optional=True), "payload": None},
        {"schema": _struct({**text, "optional": False}), "payload": {"a": "0.007"}},
        {"schema": _struct(b), "payload": {"b": "x"}},
        {"schema": _struct(text, optional=True), "payload": None},
        "Schema Schema{FLOAT64} does not correspond to a known timestamp type format",
        f"{NOT_STRUCTS}java.util.ArrayList",
        "Cannot list fields on non-struct type",
    ]


def test_members_of_objects_also_those_with_odd_names() -> None:
    name = 'it\'s "q".x$'
    values = [{name: 5, "b": [None]}, {name: None}, {}, {name: True}, {name: "1.25"}, [1], "text", None]
    assert _converted(values, {"field": name, "target.type": "unix", "format": "s.S"}, schemas=False) == [
        {name: 5, "b": [None]},
        {name: None},
        {name: None},
        "TimestampConverter does not support class java.lang.Boolean objects as timestamps",
        {name: 1025},
        f"{NOT_OBJECTS}java.util.ArrayList",
        f"{NOT_OBJECTS}java.lang.String",
        None,
    ]


def test_a_chain_of_two_gives_texts_another_format() -> None:
    stages = [
        {"field": "at", "target.type": "Timestamp", "format": "dd/MM/yyyy HH:mm"},
        {"field": "at", "target.type": "string", "format": "yyyy-MM-dd'T'HH:mm:ssX"},
    ]
    assert _converted([{"at": "29/02/2024 10:11", "n": 1}], *stages, schemas=False) == [
        {"at": "2024-02-29T10:11:00Z", "n": 1}
    ]


def test_whole_values_keep_only_whether_they_are_optional() -> None:
    values = [
        {"schema": {**NUMBER, "name": "n", "doc": "d"}, "payload": 86400001},
        {"schema": {**NUMBER, "optional": False, "default": 3}, "payload": 5},
        {"schema": NUMBER, "payload": None},
    ]
    date = {"type": "int32", "name": "org.apache.kafka.connect.data.Date", "version": 1}
    assert _converted(values, {"target.type": "Date"}) == [
        {"schema": {**date, "optional": True}, "payload": 1},
        {"schema": {**date, "optional": False}, "payload": 0},
        {"schema": {**date, "optional": True}, "payload": None},
    ]
