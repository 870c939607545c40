"""Messages that somebody made up to harm whoever reads them: drawn by hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "A", "", "a.b", "`", "\x00", "\ud800", "é", "😀", "schema", "payload", "x" * 300]
_TYPES = ["boolean", "int8", "int16", "int32", "int64", "float", "double", "bytes", "string"]
_LOGICAL = [f"org.apache.kafka.connect.data.{name}" for name in ("Decimal", "Date", "Time", "Timestamp")]
_NO_JSON = ["{", "[1", "NaN", "1e400", "-", '"\\ud800"', "\ufeff1", " ", "1" * 5_000, '{"schema":{}}', '{"payload":1}']

names = st.sampled_from(NAMES)
_SCALES = ["0", "2", "39", "-1", "²", "9" * 30]
_KINDS = ["array", "map", "struct"]
scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | names | st.sampled_from(["AQ==", "%", "1"])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)


def _with_extras(schema: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    extras = st.fixed_dictionaries(
        {},
        optional={
            "optional": st.booleans() | values,
            "default": values,
            "name": st.sampled_from(_LOGICAL) | names,
            "version": st.integers() | values,
            "doc": names,
            "parameters": st.fixed_dictionaries({"scale": st.sampled_from(_SCALES)}) | values,
        },
    )
    return st.builds(lambda own, more: {**more, **own}, schema, extras)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    field = st.builds(lambda schema, name: {**schema, "field": name}, inner, names)
    kinds = (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"type": st.just("map"), "keys": inner, "values": inner})
        | st.fixed_dictionaries({"type": st.just("struct"), "fields": st.lists(field, max_size=4)})
    )
    return _with_extras(kinds)


_leaves = _with_extras(st.fixed_dictionaries({"type": st.sampled_from([*_TYPES, *_TYPES, "nope", "\ud800", "struct"])}))
schemas = st.recursive(_leaves, _containers, max_leaves=6)


def nested(levels: int, kind: str) -> dict[str, Any]:
    """The schema of so many levels of arrays, maps or structs."""
    schema: dict[str, Any] = {"type": "int8"}
    for _ in range(levels):
        match kind:
            case "array":
                schema = {"type": "array", "items": schema}
            case "map":
                schema = {"type": "map", "keys": {"type": "int8"}, "values": schema}
            case _:
                schema = {"type": "struct", "fields": [{**schema, "field": "a"}]}
    return schema


def enveloped(schema: Any, payload: Any) -> bytes:
    """The message of JsonConverter, whatever there is in it."""
    return json.dumps({"schema": schema, "payload": payload}).encode()


def deep(levels: int) -> bytes:
    """Lists in lists without a schema."""
    return b'{"schema":null,"payload":' + b"[" * levels + b"]" * levels + b"}"


messages = (
    st.binary(max_size=30)
    | st.sampled_from(_NO_JSON).map(str.encode)
    | values.map(lambda value: json.dumps(value).encode())
    | st.builds(enveloped, st.none() | schemas, values)
    | st.builds(enveloped, schemas, values)
    | st.builds(enveloped, st.builds(nested, st.sampled_from([3, 400]), st.sampled_from(_KINDS)), values)
    | st.sampled_from([950, 5_000]).map(deep)
    | st.builds(lambda message, size: message[:size], st.builds(enveloped, schemas, values), st.integers(0, 80))
)
"""Values of records, as bytes."""
