"""The differences that docs/compatibility.md lists, each with what tells it."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.fuzz.comparison import Difference
from tests.fuzz.values import DATA

Tells = Callable[[Difference], bool]
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_TYPES: dict[str, type[Any]] = {"boolean": bool, "string": str, "bytes": str, "array": list, "struct": dict}
_FLOAT = r"-?\d+\.\d+(?:E-?\d+)?"
_SURROGATES = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_DAY_MS = 86_400_000
_LAST_MS = (2**63 - 1) // 1000


def family_of(found: Difference) -> str | None:
    """The name of the listed family to which a difference belongs; None if it is not listed."""
    return next((name for name, tells in LISTED.items() if tells(found)), None)


def _has(found: Difference, *types: str) -> bool:
    return any(kind.partition("$")[0] in types for kind in found.types)


def _beyond_64_bits(found: Difference) -> bool:
    numbers = re.findall(r"-?\b\d{19,}\b", found.given)
    return any(not -(2**63) <= int(number) < 2**63 for number in numbers)


def _schemaless_date(found: Difference) -> bool:
    return found.what == "error, record" and _has(found, "TimestampConverter") and "java.util.Date" in str(found.theirs)


def _primitive_numbers(found: Difference) -> bool:
    refused = ("is not compatible with objects of type", "(was class java.lang.")
    return found.what == "error, record" and any(text in str(found.theirs) for text in refused)


def _java_identity(found: Difference) -> bool:
    return "[B@" in str(found.theirs) or "HeapByteBuffer" in str(found.theirs)


def _misfit(found: Difference) -> bool:
    return any(not _fits(*envelope) for envelope in _envelopes(found))


def _envelopes(found: Difference) -> Iterator[tuple[Any, Any]]:
    for text in found.given.split("\n"):
        try:
            node = json.loads(text)
        except ValueError:
            continue
        if isinstance(node, dict) and node.keys() == {"schema", "payload"}:
            yield node["schema"], node["payload"]


def _fits(schema: Any, payload: Any) -> bool:
    """Whether a payload is of the JSON type and in the range of its schema."""
    if schema is None or payload is None:
        return True
    kind = schema["type"]
    if kind in _BITS:
        return type(payload) is int and _in_range(schema, payload)
    if kind in ("float", "double"):
        return type(payload) in (int, float)
    if kind == "map" and schema["keys"]["type"] != "string":
        return isinstance(payload, list) and all(_pair_fits(schema, pair) for pair in payload)
    if not isinstance(payload, _TYPES.get(kind, dict)):
        return False
    match kind:
        case "struct":
            return all(_fits(field, payload.get(field["field"])) for field in schema["fields"])
        case "array":
            return all(_fits(schema["items"], item) for item in payload)
        case "map":
            return all(_fits(schema["values"], item) for item in payload.values())
    return True


def _pair_fits(schema: Any, pair: Any) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    return _fits(schema["keys"], pair[0]) and _fits(schema["values"], pair[1])


def _in_range(schema: Any, number: int) -> bool:
    match str(schema.get("name")).removeprefix(DATA):
        case "Time":
            return 0 <= number < _DAY_MS
        case "Timestamp":
            return -_LAST_MS <= number <= _LAST_MS
    edge = 1 << _BITS[schema["type"]] - 1
    return -edge <= number < edge


def _null_key(found: Difference) -> bool:
    return found.what.endswith(", error") and "null as a key" in str(found.ours)


def _instant(found: Difference) -> bool:
    return _has(found, "TimestampConverter") and "out of range" in str(found.ours)


def _header_cannot_be_written(found: Difference) -> bool:
    """The record, or the header, is dropped later."""
    if not found.what.endswith(", error"):
        return False
    stage, added = found.ours["error"]["stage"], _has(found, "HeaderFrom", "InsertHeader")
    if stage != "HEADER_CONVERTER" and not (stage == "TRANSFORMATION" and added):
        return False
    return found.what.startswith("dropped") or added or _has(found, "DropHeaders")


def _default_of_a_struct(found: Difference) -> bool:
    return found.what.startswith("error, ") and "SchemaBuilderException: Invalid default value" in str(found.theirs)


def _year_zero(found: Difference) -> bool:
    return found.what == "headers" and any(header["value"] == "0000-01-01" for header in found.ours["headers"])


def _end_of_the_day(found: Difference) -> bool:
    """A time of 24:00 that Connect's check lets pass, from another source than a payload."""
    if not found.what.endswith(", error") or "Time type should not have any date fields" not in str(found.ours):
        return False
    return str(_DAY_MS) in str(found.theirs)


def _scale(found: Difference) -> bool:
    return found.what.endswith(", error") and "Invalid scale of a Decimal schema" in str(found.ours)


def _nan_bits(found: Difference) -> bool:
    """A NaN of FloatConverter with other bits than the usual ones."""
    if found.what not in ("key", "value"):
        return False
    ours, theirs = (
        (answer[found.what] or "").encode(errors="surrogateescape") for answer in (found.ours, found.theirs)
    )
    return ours == b"\x7f\xc0\x00\x00" and len(theirs) == 4 and math.isnan(struct.unpack(">f", theirs)[0])


def _digits(found: Difference) -> bool:
    """Before 19, Java writes some floats with more digits than they need."""
    if found.what == "headers":
        number, texts = _FLOAT, [json.dumps(answer["headers"]) for answer in (found.theirs, found.ours)]
    elif found.what in ("key", "value"):
        number, texts = rf'(?<="default":){_FLOAT}', [answer[found.what] for answer in (found.theirs, found.ours)]
    else:
        return False
    plain = [re.sub(_SURROGATES, lambda match: str(json.loads(f'"{match[0]}"')), text) for text in texts]
    rounded = [re.sub(number, lambda match: str(struct.pack(">f", float(match[0]))), text) for text in plain]
    return sorted(rounded[0]) == sorted(rounded[1])


LISTED: Mapping[str, Tells] = {
    "an integer beyond 64 bits keeps its value": _beyond_64_bits,
    "a payload that does not fit its schema is an error": _misfit,
    "a map with null as a key is an error": _null_key,
    "a time of 24:00 is an error": _end_of_the_day,
    "a default for a struct is read": _default_of_a_struct,
    "a Decimal with a scale below 0 or above 38 is an error": _scale,
    "a date without schema is written as ISO text": _schemaless_date,
    "primitive converters take any schemaless number that fits": _primitive_numbers,
    "StringConverter writes bytes as base64": _java_identity,
    "an instant beyond microseconds is an error": _instant,
    "floats in headers and defaults have the digits of Java 19 and later": _digits,
    "a header is written where it is read or added": _header_cannot_be_written,
    "a header's text of year 0 stays a text": _year_zero,
    "FloatConverter's NaN has the usual bits": _nan_bits,
}
