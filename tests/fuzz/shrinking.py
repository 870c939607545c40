"""A difference, made as small as it can be while it stays one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.fuzz.comparison import Difference, differences
from tests.fuzz.configurations import Case, Config, Record
from tests.fuzz.reference import KafkaConnect

_ROUNDS = 25
_AT_ONCE = 24


def smallest(found: Difference, kafka: KafkaConnect) -> Difference:
    """The same kind of difference, with fewer transformations, headers, fields and items."""
    for _ in range(_ROUNDS):
        smaller = next(_smaller(found, kafka), None)
        if smaller is None:
            break
        found = smaller
    return found


def _smaller(found: Difference, kafka: KafkaConnect) -> Iterator[Difference]:
    records = [] if found.record is None else [found.record]
    if found.record is not None:
        candidates = list(_records(found.record))[:_AT_ONCE]
        yield from _alike(found, differences(Case("", found.config, candidates), kafka))
    for config in _configs(found.config):
        yield from _alike(found, differences(Case("", config, records), kafka))


def _alike(found: Difference, others: list[Difference]) -> Iterator[Difference]:
    return (other for other in others if other.what == found.what)


def _configs(config: Config) -> Iterator[Config]:
    aliases = [alias for alias in config.get("transforms", "").split(",") if alias]
    for alias in aliases:
        rest = {key: text for key, text in config.items() if not key.startswith(f"transforms.{alias}.")}
        rest["transforms"] = ",".join(other for other in aliases if other != alias)
        if not rest["transforms"]:
            del rest["transforms"]
        yield rest
    for name in config:
        if name.endswith(".predicate"):
            alias = name.split(".")[1]
            gone = (name, f"transforms.{alias}.negate")
            rest = {
                k: v for k, v in config.items() if k not in gone and not k.startswith(f"predicates.{config[name]}.")
            }
            rest["predicates"] = ",".join(p for p in config["predicates"].split(",") if p != config[name])
            if not rest["predicates"]:
                del rest["predicates"]
            yield rest


def _records(record: Record) -> Iterator[Record]:
    headers = record["headers"]
    for at in range(len(headers)):
        yield record | {"headers": headers[:at] + headers[at + 1 :]}
    for part in ("key", "value"):
        if record[part] is not None:
            yield record | {part: None}
            for text in _texts(record[part]):
                yield record | {part: text}


def _texts(text: str) -> Iterator[str]:
    try:
        node = json.loads(text)
    except ValueError:
        return
    if isinstance(node, dict) and node.keys() == {"schema", "payload"}:
        nodes: Iterator[Any] = _envelopes(node["schema"], node["payload"])
    else:
        nodes = _nodes(node)
    for smaller in nodes:
        yield json.dumps(smaller, ensure_ascii=False)


def _envelopes(schema: Any, payload: Any) -> Iterator[Any]:
    """Without a field, in schema and payload; with a smaller payload."""
    if isinstance(schema, dict) and schema.get("type") == "struct" and isinstance(payload, dict):
        for member in schema["fields"]:
            name = member["field"]
            fields = [other for other in schema["fields"] if other is not member]
            rest = {key: value for key, value in payload.items() if key != name}
            yield {"schema": schema | {"fields": fields}, "payload": rest}
        for at, member in enumerate(schema["fields"]):
            for inner in _envelopes(member, payload.get(member["field"])):
                if inner["schema"] is None or isinstance(inner["schema"], dict):
                    fields = [*schema["fields"][:at], inner["schema"], *schema["fields"][at + 1 :]]
                    yield {
                        "schema": schema | {"fields": fields},
                        "payload": payload | {member["field"]: inner["payload"]},
                    }
    elif isinstance(payload, list):
        for smaller in _nodes(payload):
            yield {"schema": schema, "payload": smaller}


def _nodes(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        for name in node:
            yield {key: value for key, value in node.items() if key != name}
        for name, value in node.items():
            for smaller in _nodes(value):
                yield node | {name: smaller}
    if isinstance(node, list):
        for at in range(len(node)):
            yield node[:at] + node[at + 1 :]
        for at, item in enumerate(node):
            for smaller in _nodes(item):
                yield [*node[:at], smaller, *node[at + 1 :]]
