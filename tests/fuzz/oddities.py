"""What people rarely write and Kafka Connect reads all the same: `python -m tests.fuzz --odd`."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from tests.fuzz.values import Schema, a_payload

_NUMBER = re.compile(r"(?<=[:\[,])(-?)(\d+)(?=[,}\]])")
_WHOLE = ("1.0", "1e2", "-7.00", "0.0", "1.5", "12e-1", "3E0")
_LONG = ("12345678901234567890", "0.1000000000000000055511151231257827", "1e400", "-0", "1E+2", "123456789012345678.50")


def odd_schema(rng: Random, schema: Schema) -> Schema:
    """The schema with defaults, documentation, parameters and names in places where they are rare."""
    odd = dict(schema)
    if "fields" in odd:
        odd["fields"] = [odd_schema(rng, field) for field in odd["fields"]]
    for part in ("items", "values"):
        if part in odd:
            odd[part] = odd_schema(rng, odd[part])
    if rng.random() < 0.1 and "default" not in odd:
        odd["default"] = _default(rng, odd)
    if rng.random() < 0.05:
        odd |= rng.choice(
            ({"doc": "what it is"}, {"parameters": {"a": "b"} | odd.get("parameters", {})}, {"version": 3})
        )
    if rng.random() < 0.03:
        odd["optional"] = None if rng.random() < 0.3 else not odd.get("optional", False)
    return odd


def _default(rng: Random, schema: Schema) -> Any:
    if rng.random() < 0.15:
        return None
    if schema["type"] in ("float", "double") and rng.random() < 0.5:
        return rng.choice((1, 0.1, 1e10, 3.4e38, 1e-45, 16777217, -0.0, 123456.789))
    return json.loads(a_payload(rng, {**schema, "optional": False}))


def odd_text(rng: Random, text: str) -> str:
    """A message whose numbers are perhaps written in another way."""
    if rng.random() < 0.06:
        return _NUMBER.sub(lambda match: f"{match[1]}{'0' * rng.randint(1, 2)}{match[2]}", text)
    if rng.random() < 0.06:
        return _NUMBER.sub(lambda _: rng.choice(_WHOLE), text)
    if rng.random() < 0.03:
        return _NUMBER.sub(lambda _: rng.choice(_LONG), text)
    if rng.random() < 0.02:
        return rng.choice((f" {text}\n", f"{text} ", f"{text}x", text[:-1], f"{text}{text}", text.replace(":", " : ")))
    return text


def odd_header(rng: Random) -> str:
    """A header's text with what `Values.parseString` has rules of its own for."""
    return rng.choice(
        (
            *("007", "-007", "00.5", "+5", "5.", ".5", "1_000", "1,5", "1d", "1f", "0x10", "1e5", "1E-5", "--1"),
            *("12345678901234567890", "1.10", "100.000", "0.1000000000000000055511151231257827", "1e400", "Infinity"),
            *(
                "24:00:00.000Z",
                "25:00:00.000Z",
                "23:59:59.999Z",
                "2024-02-30",
                "2024-13-01",
                "0000-01-01",
                "12:00:00.000+02:00",
            ),
            *(
                "[1,,2]",
                "[1,2,]",
                "{,}",
                '{"a"}',
                '{"a":}',
                "{a:1}",
                '["a", "b"]',
                " [1]",
                "[1] ",
                "[true,false]",
                "[null,1]",
            ),
            *(
                '{"a":1,"b":2.5}',
                '{"1":2}',
                "{1:2}",
                '{"a":null}',
                "[[],[1]]",
                "\\",
                '"',
                '"a',
                'a"b',
                "True",
                "tRUE",
                "NULL",
                "Null",
            ),
            *(
                "[1.0,2]",
                "[128,1]",
                "[9223372036854775808]",
                "[2024-02-29]",
                "{}x",
                "[]x",
                "\t1",
                "1\n",
                "'a'",
                '["a,b"]',
            ),
        )
    )
