"""Schemaless data that Python passes on as JSON texts, as they come out of Spark's VARIANT.

VARIANT sorts members by their names, and has decimals for numbers with a fraction.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from airflow_kconnect.java_text.json import canonical_json

_LONG = 2**63
_DIGITS_MAX = 38
_RARE = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
# Java writes the digits of these as capitals. An escaped backslash is matched as a whole.
_CONTROL = re.compile(r"\\\\|\\u00[01][0-9a-f]")


def parsed(text: str) -> Any:
    """The data: None, booleans, texts, integers, `Decimal`, floats, lists, and dicts with sorted members."""
    return json.loads(text, parse_float=_fraction, parse_int=_integer, object_pairs_hook=_members)


def json_text(data: Any) -> str:
    """The JSON text of parsed data, as Spark's `to_json` writes it."""
    match data:
        case str():
            return quoted(data)
        case dict():
            return "{" + ",".join(f"{quoted(name)}:{json_text(value)}" for name, value in data.items()) + "}"
        case list():
            return "[" + ",".join(map(json_text, data)) + "]"
        case Decimal():
            return plain_text(data)
        case _:
            return canonical_json(data)


def java_text(text: str | None) -> bytes | None:
    """The text of Java's `toString` for a JSON text of schemaless data."""
    data = None if text is None else parsed(text)
    return None if data is None else utf8(data if isinstance(data, str) else _java_text(data))


def _java_text(data: Any) -> str:
    """Of what is in lists and objects; as by `java_text` of columns, rare control characters stay as in JSON."""
    match data:
        case str():
            return _RARE.sub(lambda match: quoted(match[0])[1:-1], data)
        case dict():
            return "{" + ", ".join(f"{_java_text(name)}={_java_text(value)}" for name, value in data.items()) + "}"
        case list():
            return "[" + ", ".join(map(_java_text, data)) + "]"
        case _:
            return json_text(data)


def kind_of(data: Any) -> str:
    """What Spark calls the type of parsed data, without what is in lists and objects."""
    match data:
        case bool():
            return "BOOLEAN"
        case int():
            return "BIGINT"
        case Decimal():
            return "DECIMAL"
        case str():
            return "STRING"
    return "DOUBLE" if isinstance(data, float) else "OBJECT" if isinstance(data, dict) else "ARRAY"


def quoted(text: str) -> str:
    """A text as JSON, as Jackson writes it to characters."""
    found = encode_basestring(text)
    return found if "\\u00" not in found else _CONTROL.sub(_capitals, found)


def plain_text(number: Decimal) -> str:
    """A decimal without zeros at its end, never with an exponent."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def utf8(text: str) -> bytes:
    """Halves of surrogate pairs become question marks, as in Java."""
    return text.encode(errors="replace")


def _capitals(match: re.Match[str]) -> str:
    found = match[0]
    return found if found == "\\\\" else f"\\u{found[2:].upper()}"


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in sorted(dict(pairs).items(), key=_name)}


def _name(member: tuple[str, Any]) -> bytes:
    """Java compares the 16-bit units of names."""
    return member[0].encode("utf-16-be", "surrogatepass")


def _integer(text: str) -> int | Decimal | float:
    number = int(text)
    return number if -_LONG <= number < _LONG else _fraction(text)


def _fraction(text: str) -> Decimal | float:
    digits = text.lstrip("-").lstrip("0.")
    is_plain = "e" not in text.lower() and len(digits.replace(".", "")) <= _DIGITS_MAX
    if not is_plain:
        return float(text)
    return Decimal(text) or Decimal()  # there is no negative zero
