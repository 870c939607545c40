"""JSON as Jackson reads it where Python's parser is stricter, and what is wrong with a text that is not JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Neither within the digits of a number nor in an exponent, which may begin with zeros anyway.
AT_START = r"(?<![\d.eE])(?<![eE][+-])"
_ZEROS = re.compile(rf"{STRING}|{AT_START}(-?)(0+)(?=\d)")

NOT_JSON = "it is not JSON in UTF-8"
_WORD_MAX = 20
_WORD = re.compile(r"[\w.$-]+")
_EXPECTED = {
    "Expecting value": "a value",
    "Expecting property name enclosed in double quotes": "a name in double quotes",
    "Expecting ':' delimiter": "`:`",
    "Expecting ',' delimiter": "`,` or the end of the object or list",
    "Illegal trailing comma before end of object": "a name in double quotes",
    "Illegal trailing comma before end of array": "a value",
    "Extra data": "the end",
}
_WRONG = {
    "Unterminated string starting at": "there is a text without an end",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "there is a byte order mark",
    "Invalid control character at": "there is a control character within a text",
    "Invalid \\escape": "there is a backslash before a character that needs none",
    "Invalid \\uXXXX escape": "`\\u` is not followed by four hexadecimal digits",
}


def leniently(parse: Callable[[str], Any], text: str) -> Any:
    """What a strict parser makes of a text, if necessary without leading zeros.

    :raises ValueError: it is not JSON. Also raises what the parser raises.
    """
    try:
        return parse(text)
    except json.JSONDecodeError:
        return parse(without_leading_zeros(text))


def without_leading_zeros(text: str) -> str:
    """JSON text of the same length with blanks for them."""
    return _ZEROS.sub(lambda m: m[0] if m[2] is None else " " * len(m[2]) + m[1], text)


def why_not_json(data: bytes) -> str:
    """What is wrong with a message that should be JSON, and where. Of its text at most one word is quoted, as Jackson
    does.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"it is not UTF-8: byte 0x{data[error.start]:02x} at position {error.start}"
    try:
        leniently(json.loads, text)
        leniently(lambda text: json.loads(text, parse_constant=_refuse), text)
    except json.JSONDecodeError as error:
        return f"it is not JSON: {_problem(error, text)}"
    except RecursionError:
        return "it nests too deeply"
    except ValueError as error:
        return f"it is not JSON: {error}"
    return NOT_JSON  # for another reader than Python's


def _problem(error: json.JSONDecodeError, text: str) -> str:
    message = error.msg.partition(":")[0] if error.msg.startswith("Invalid") else error.msg
    where = f"at line {error.lineno}, column {error.colno}"
    if error.msg in _EXPECTED:
        return f"{_found(text[error.pos :])} {where}, where {_EXPECTED[error.msg]} was expected"
    return f"{_WRONG.get(message, error.msg)} {where}"


def _found(rest: str) -> str:
    if not rest.strip():
        return "it ends"
    word = _WORD.match(rest)
    found = word[0] if word else rest[0]
    return f"there is `{found[:_WORD_MAX]}{'...' if len(found) > _WORD_MAX else ''}`"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")
