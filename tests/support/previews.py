"""The effect of a single transformation on some records, for tests: JsonConverter envelopes in and out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.runtime.preview import preview

LONG, TEXT = {"type": "int64", "optional": False}, {"type": "string", "optional": True}
DEFAULTED = {"type": "string", "optional": True, "default": "preset"}


def struct(fields: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    """The schema of a struct."""
    members = [{**schema, "field": name} for name, schema in fields.items()]
    return {"type": "struct", "fields": members, "optional": False, **rest}


def of(schema: Any, payload: Any) -> dict[str, Any]:
    """An envelope."""
    return {"schema": schema, "payload": payload}


def bare(payload: Any) -> dict[str, Any]:
    """An envelope without schema."""
    return of(None, payload)


def transformed(
    type_name: str, config: Mapping[str, str], values: Sequence[Any], **settings: str
) -> list[dict[str, Any] | str]:
    """Records with only a value (None: a tombstone) after a transformation; nulls are not replaced by converters.

    :param type_name: such as ``Flatten$Value``, a class of Connect; or a name with its package.
    :param settings: additional keys of the connector, with ``_`` for ``.``.
    :returns: per record ``key``, ``value`` and ``headers``; or an error: its class without package, a colon, its text.
    """
    package = "" if "." in type_name else "org.apache.kafka.connect.transforms."
    props = {"transforms": "it", "transforms.it.type": f"{package}{type_name}"}
    props |= {f"transforms.it.{key}": text for key, text in config.items()}
    for role in ("key", "value", "header"):
        props[f"{role}.converter"] = "org.apache.kafka.connect.json.JsonConverter"
        props[f"{role}.converter.replace.null.with.default"] = "false"
    props |= {key.replace("_", "."): text for key, text in settings.items()}
    records = [
        {"topic": "topic", "partition": 3, "timestamp": 1_700_000_000_123, "value": _text(value)} for value in values
    ]
    return [_parsed(answer) for answer in preview(props, records)]


def values_of(answers: Sequence[dict[str, Any] | str]) -> list[Any]:
    """The values alone, and the errors."""
    return [answer if isinstance(answer, str) else answer["value"] for answer in answers]


def _text(envelope: Any) -> str | None:
    return None if envelope is None else json.dumps(envelope)


def _parsed(answer: dict[str, Any]) -> dict[str, Any] | str:
    if "error" in answer:
        return f"{answer['error']['class'].rpartition('.')[2]}: {answer['error']['message']}"
    parts = {part: json.loads(answer[part] or "null") for part in ("key", "value")}
    return parts | {"headers": [(header["key"], json.loads(header["value"] or "null")) for header in answer["headers"]]}
