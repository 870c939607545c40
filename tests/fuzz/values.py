"""Random schemas, payloads and schemaless data, as the JSON texts that lie in Kafka."""

from __future__ import annotations

import base64
import json
from random import Random
from typing import Any

DATA = "org.apache.kafka.connect.data."
FIELDS = ("a", "b", "c", "d", "e", "A", "x y", "größe", "a.b")
_STRINGS = (
    "",
    "x",
    "true",
    "17",
    "-1.5",
    " 8 ",
    "null",
    "ÄÖ",
    "😀",
    'q"\\',
    "a\nb",
    "1e3",
    "2024-02-29",
    "0x1F",
    "NaN",
)
_PRIMITIVES = ("int8", "int16", "int32", "int64", "float", "double", "boolean", "string", "bytes")
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_FRACTIONS = ("1.0", "0.5", "-2.25", "1e3", "100.0", "-0.0", "0.0", "1e16", "0.1", "123456789.125", "3", "-7", "1.5e-7")
_NUMBERS = (
    *_FRACTIONS,
    "0",
    "1",
    "-1",
    "127",
    "128",
    "40000",
    "2147483648",
    "9007199254740993",
    "-9223372036854775808",
)

Schema = dict[str, Any]


def a_schema(rng: Random, depth: int = 3) -> Schema:
    """A random schema, at most `depth` structs, lists and maps deep."""
    kind = rng.choice(("struct",) * 4 + ("array", "map") + _PRIMITIVES) if depth else rng.choice(_PRIMITIVES)
    schema: Schema = _logical(rng) if rng.random() < 0.15 else {"type": kind}
    if schema["type"] == "struct":
        names = rng.sample(FIELDS, rng.randint(0, 5))
        schema["fields"] = [{**a_schema(rng, depth - 1), "field": name} for name in names]
    if schema["type"] == "array":
        schema["items"] = a_schema(rng, depth - 1)
    if schema["type"] == "map":
        schema["keys"] = {"type": "string"} if rng.random() < 0.6 else a_schema(rng, 0)
        schema["values"] = a_schema(rng, depth - 1)
    if rng.random() < 0.5:
        schema["optional"] = rng.random() < 0.8
    if "name" not in schema and rng.random() < 0.1:
        schema |= {"name": "com.example.Thing", "version": 2}
    if schema["type"] not in ("struct", "array", "map") and rng.random() < 0.12:
        schema["default"] = json.loads(a_payload(rng, {**schema, "optional": False}))
    return schema


def _logical(rng: Random) -> Schema:
    name, kind = rng.choice((("Decimal", "bytes"), ("Date", "int32"), ("Time", "int32"), ("Timestamp", "int64")))
    schema: Schema = {"type": kind, "name": DATA + name, "version": 1}
    if name == "Decimal":
        schema["parameters"] = {"scale": str(rng.choice((0, 2, 2, 5, 18)))}
    return schema


def a_payload(rng: Random, schema: Schema) -> str:
    """The JSON text of a value that fits a schema, nearly always; null where it is allowed, sometimes."""
    if schema.get("optional") and rng.random() < 0.2:
        return "null"
    if rng.random() < 0.004:
        return a_json(rng, 1)
    if str(schema.get("name")).startswith(DATA):
        return _logical_payload(rng, schema)
    match schema["type"]:
        case "struct":
            given = [f for f in schema["fields"] if not (f.get("optional") and rng.random() < 0.1)]
            return _object({f["field"]: a_payload(rng, f) for f in given})
        case "array":
            return _list(a_payload(rng, schema["items"]) for _ in range(rng.randint(0, 3)))
        case "map":
            return _map(rng, schema)
        case kind:
            return _primitive(rng, kind)


def _primitive(rng: Random, kind: str) -> str:
    if kind in _BITS:
        edge = 2 ** (_BITS[kind] - 1)
        return str(rng.choice((0, 1, -1, 7, edge - 1, -edge, rng.randint(-edge, edge - 1))))
    match kind:
        case "boolean":
            return rng.choice(("true", "false"))
        case "string":
            return json.dumps(rng.choice(_STRINGS), ensure_ascii=rng.random() < 0.3)
        case "bytes":
            return json.dumps(base64.b64encode(rng.randbytes(rng.randint(0, 5))).decode())
        case _:
            return rng.choice(_FRACTIONS)


def _logical_payload(rng: Random, schema: Schema) -> str:
    match schema["name"].removeprefix(DATA):
        case "Decimal":
            return json.dumps(base64.b64encode(rng.randbytes(rng.choice((1, 2, 8)))).decode())
        case "Date":
            return str(rng.choice((0, 1, -1, 19000, 19782)))
        case "Time":
            return str(rng.choice((0, 1, 86_399_999, 3_600_000)))
        case _:
            return str(rng.choice((0, 1, -1, 1_700_000_000_123, 86_400_000, 1_709_164_800_000)))


def _map(rng: Random, schema: Schema) -> str:
    keys = [a_payload(rng, schema["keys"]) for _ in range(rng.randint(0, 3))]
    pairs = {key: a_payload(rng, schema["values"]) for key in keys}
    if schema["keys"]["type"] == "string":
        return "{" + ",".join(f"{key}:{value}" for key, value in pairs.items() if key.startswith('"')) + "}"
    return _list(f"[{key},{value}]" for key, value in pairs.items())


def a_json(rng: Random, depth: int = 3) -> str:
    """Any JSON text."""
    match (
        rng.choice(("object",) * 5 + ("list", "string", "number", "number", "word"))
        if depth
        else rng.choice(("string", "number", "number", "word"))
    ):
        case "object":
            return _object({name: a_json(rng, depth - 1) for name in rng.sample(FIELDS, rng.randint(0, 4))})
        case "list":
            return _list(a_json(rng, depth - 1) for _ in range(rng.randint(0, 3)))
        case "string":
            return json.dumps(rng.choice(_STRINGS), ensure_ascii=rng.random() < 0.3)
        case "number":
            return rng.choice(_NUMBERS)
        case _:
            return rng.choice(("true", "false", "null"))


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{text}" for name, text in members.items()) + "}"


def _list(items: Any) -> str:
    return "[" + ",".join(items) + "]"


def a_header(rng: Random) -> str:
    """A header's text, as a person or SimpleHeaderConverter writes it."""
    return rng.choice(
        (
            *_STRINGS,
            *_NUMBERS,
            "[1,2]",
            '["a","b"]',
            '{"a":1}',
            '{"a":"x","b":"y"}',
            "2024-02-29T12:00:00.000Z",
            "12:00:00.000Z",
            "[]",
            "{}",
            "[1,2.5]",
            "[[1],[1.5]]",
            "[null]",
            '["a",1]',
            "false",
            "TRUE",
            "[1,",
        )
    )


def an_offset(rng: Random) -> dict[str, Any]:
    """A source partition or a source offset: names and plain values.

    Only doubles with few digits: before 19, Java writes others with more than they need.
    """
    edges = (0, -1, 2**31, 2**63 - 1, -(2**63), True, False, None, 1.0, 0.1, -2.5, 1e7, 1e-3, 9.99e-4, 1e21)
    values = (*edges, *_STRINGS, "\u007f\u0080\u2028", "\t\u0001/", rng.randint(-(2**40), 2**40))
    return {name: rng.choice(values) for name in rng.sample((*FIELDS, "filename", "😀"), rng.randint(0, 4))}
