"""Text of header values: ``org.apache.kafka.connect.data.Values`` for Python data."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import BOOLEAN_SCHEMA, STRING_SCHEMA, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import float_text
from airflow_kconnect.converters.header_text.literals import (
    Typed,
    milliseconds,
    number_of,
    temporal_of,
    temporal_text,
)
from airflow_kconnect.converters.header_text.merging import list_of, map_of

_TOKEN = re.compile(r'[:,{}\[\]"]|(?:[^\\:,{}\[\]"]|\\.|\\\Z)+', re.DOTALL)
# What Java's String.trim removes.
_BLANK = "".join(map(chr, range(33)))
_LITERALS: dict[str, Typed | None] = {"null": None, "true": (BOOLEAN_SCHEMA, True), "false": (BOOLEAN_SCHEMA, False)}


def parse_string(text: str) -> tuple[ConnectSchema | None, Any]:
    """Parse a text to schema and value (``Values.parseString``).

    Connect looks only at the first of the parts delimited by ``: , { } [ ] "``: ``10:15`` is the number 10.
    Differences: dates outside the years 1 to 9999, and maps with lists or maps as keys, stay text.
    """
    if not text:
        return STRING_SCHEMA, text
    return _Parser(text).parse(embedded=False) or (None, None)


class _Parser:
    """Iterates over the tokens of a text; blank tokens are skipped where a delimiter may appear."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = _TOKEN.findall(text)
        self._at = 0

    @property
    def _more(self) -> bool:
        return self._at < len(self._tokens)

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, expected: str) -> bool:
        while self._at < len(self._tokens) - 1 and not self._tokens[self._at].strip(_BLANK):
            self._at += 1
        follows = self._more and self._tokens[self._at].strip(_BLANK) == expected
        self._at += follows
        return follows

    def parse(self, *, embedded: bool) -> Typed | None:
        """The next value; None is null.

        :param embedded: whether it is inside a list or map.
        :raises DataError: it is embedded but is not a value.
        """
        if not self._more:
            return None
        start = self._at
        if embedded and self._take('"'):
            return self._quoted()
        for literal, value in _LITERALS.items():
            self._at = start
            if self._take(literal) and (embedded or not self._more):
                return value
        self._at = start
        try:
            if self._take("["):
                return self._list()
            if self._take("{"):
                return self._map()
        except DataError:
            self._at = start
        return self._scalar(self._next(), embedded)

    def _quoted(self) -> Typed:
        content = ""
        while self._more and not self._take('"'):
            content += self._next()
        return temporal_of(content) or (STRING_SCHEMA, content)

    def _list(self) -> Typed:
        items: list[Typed | None] = []
        while self._more:
            if self._take("]"):
                return list_of(items)
            if self._take(","):
                raise DataError(f"Unable to parse an empty array element: {self._text}")
            items.append(self.parse(embedded=True))
            end = self._at
            if self._take("]"):
                self._at = end
            elif not self._take(","):
                raise DataError("Array elements missing ',' delimiter")
        raise DataError(f"Array is missing terminating ']': {self._text}")

    def _map(self) -> Typed:
        entries: list[tuple[Typed, Typed | None]] = []
        while self._more:
            if self._take("}"):
                return map_of(entries)
            if self._take(","):
                raise DataError(f"Unable to parse a map entry with no key or value: {self._text}")
            key = self.parse(embedded=True)
            if key is None:
                raise DataError(f"Map entry may not have a null key: {self._text}")
            if not self._take(":"):
                raise DataError(f"Map entry is missing ':' in {self._text}")
            entries.append((key, self.parse(embedded=True)))
            self._take(",")
        raise DataError(f"Map is missing terminating '}}': {self._text}")

    def _scalar(self, token: str, embedded: bool) -> Typed:
        literal = token.strip(_BLANK)
        if not literal:
            return STRING_SCHEMA, token
        typed = self._temporal(literal) if literal[0].isdecimal() else None
        if typed is None and (literal[0].isdecimal() or literal[0] in "+-"):
            typed = number_of(literal)
        if typed is None and embedded:
            raise DataError("Failed to parse embedded value")
        return typed or (STRING_SCHEMA, self._text)

    def _temporal(self, literal: str) -> Typed | None:
        """A time has two colons, which delimit tokens: five tokens form one literal."""
        others = self._tokens[self._at : self._at + 4]
        typed = temporal_of(literal + "".join(others)) if len(others) == 4 else None
        if typed is None:
            return temporal_of(literal)
        self._at += 4
        return typed


def convert_to_string(schema: ConnectSchema | None, value: Any) -> str | None:
    """Text of a value (``Values.convertToString``); null is None.

    :raises DataError: values of that type have no text.
    """
    match value:
        case None:
            return None
        case str():
            return value
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case int() if schema is not None and schema.type in (SchemaType.FLOAT32, SchemaType.FLOAT64):
            return _number_text(schema, float(value))
        case _:
            return _nested_text(schema, value)


def _nested_text(schema: ConnectSchema | None, value: Any) -> str:
    """The text inside lists and maps, where strings are quoted."""
    ms = milliseconds(schema, value)
    if ms is not None:
        return temporal_text(ms)
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return _quoted(value)
        case bytes() | bytearray():
            return f'"{base64.b64encode(value).decode()}"'
        case int() | float() | Decimal():
            return _number_text(schema, value)
        case list() | tuple():
            items = schema.value_schema if schema else None
            return f"[{','.join(_nested_text(items, item) for item in value)}]"
        case Mapping():
            return "{" + ",".join(_entries(schema, value)) + "}"
    raise DataError(f"Failed to serialize unexpected value type {type(value).__name__}: {value}")


def _number_text(schema: ConnectSchema | None, value: float | Decimal) -> str:
    """An integer stays one: nested lists have a single schema, although one may hold integers and another fractions."""
    type_ = schema.type if schema else None
    if isinstance(value, float):
        return float_text(value, single=type_ is SchemaType.FLOAT32)
    return str(value)


def _entries(schema: ConnectSchema | None, value: Mapping[Any, Any]) -> Iterable[str]:
    if schema is not None and schema.type is SchemaType.STRUCT:
        for member in schema.fields:
            field_value = value.get(member.name)
            inner = _nested_text(member.schema, member.schema.default if field_value is None else field_value)
            yield f"{_quoted(member.name)}:{inner}"
        return
    keys, values = (schema.key_schema, schema.value_schema) if schema else (None, None)
    yield from (f"{_nested_text(keys, key)}:{_nested_text(values, item)}" for key, item in value.items())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
