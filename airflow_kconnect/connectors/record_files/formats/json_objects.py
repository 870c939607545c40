"""Lines of JSON as values without a schema: only what arrives as it is in the file, with Spark or without."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import pyarrow as pa

from airflow_kconnect.connectors.record_files.values import ROW, Errors, quoted

_DIGITS = 38
"""What a decimal can have; numbers with more become doubles."""
_DEPTH = 200
_ODD = re.compile(rb"[0-9.]{%d}|[0-9][eE]\+?[0-9]{3}|NaN|Infinity|\\u[dD]" % (_DIGITS + 1))
"""What may be something that is lost on the way, in a number or in a text."""
_IN_QUOTES = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKETS = re.compile(r"[\[\]{}]")


def objects_of(lines: pa.BinaryArray) -> tuple[pa.StringArray, Errors]:
    """Lines as texts, null where one cannot be a record."""
    texts: list[str | None] = []
    errors: Errors = {}
    for row, line in enumerate(lines.to_pylist()):
        try:
            texts.append(_checked(line))
        except ValueError as error:
            texts.append(None)
            errors[row] = f"{error}: {quoted(line, ROW)}"
    return pa.array(texts, pa.string()), errors


def _checked(line: bytes) -> str:
    """The text. :raises ValueError: it would not arrive as it is; the error says why."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("is not in UTF-8 (see `file.charset`)") from error
    try:
        found = json.loads(text)
    except RecursionError:
        _refuse_depth()
    except ValueError as error:
        raise ValueError("is not a JSON object") from error
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    # A quote and a colon for each member are what most lines have.
    if line.count(b'":') != len(found) or _ODD.search(line):
        json.loads(text, parse_constant=_not_json, parse_int=_number, parse_float=_number, object_pairs_hook=_members)
    if line.count(b"[") + line.count(b"{") > _DEPTH:
        _check_depth(text)
    return text


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has the member {quoted(twice)} twice in an object")
    for text in (text for pair in pairs for text in _texts(pair)):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError("has half of a character (a surrogate without the other one)") from error
    return members


def _texts(value: Any) -> list[str]:
    """Those that are not in objects: these had their turn."""
    if isinstance(value, str):
        return [value]
    return [text for each in value for text in _texts(each)] if isinstance(value, list | tuple) else []


def _number(text: str) -> int:
    digits = text.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
    if len(digits) > _DIGITS:
        raise ValueError(f"has a number with more than {_DIGITS} digits")
    if math.isinf(float(text)):
        raise ValueError("has a number that is too large for a double")
    return 0


def _not_json(constant: str) -> NoReturn:
    raise ValueError("is not a JSON object")


def _check_depth(text: str) -> None:
    depth = 0
    for bracket in _BRACKETS.findall(_IN_QUOTES.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > _DEPTH:
            _refuse_depth()


def _refuse_depth() -> NoReturn:
    raise ValueError(f"nests more than {_DEPTH} levels")
