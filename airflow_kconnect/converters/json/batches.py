"""Parses JsonConverter's payloads in batches with Arrow's JSON reader, where the messages are read.

It takes a tenth of the time of from_json (measured: 0.3 instead of 4 us for ten fields). It is stricter, too: a batch
with anything that it rejects is left to from_json, message by message.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from binascii import a2b_base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from airflow_kconnect.connect.data import DECIMAL, TIME, ConnectSchema, SchemaType
from airflow_kconnect.converters.json.envelopes import Pattern
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.registered.numbers import decimals_of
from airflow_kconnect.converters.registered.slices import LONGEST, content_of
from airflow_kconnect.converters.types import MAX_PRECISION, decimal_scale, logical_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_LONG_BYTES = 8
_QUOTE, _BACKSLASH = b'"\\'
_NO_NUMBER = re.compile(rb"[:\[,]\s*-?(?:NaN|Inf(?:inity)?)\s*[,\]}]")
# Not 32-bit floats: Jackson and Arrow round them differently.
_ARROW = {
    SchemaType.BOOLEAN: "bool",
    SchemaType.INT8: "int8",
    SchemaType.INT16: "int16",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT64: "float64",
    SchemaType.STRING: "string",
}


def parser_of(schema: ConnectSchema | None, patterns: Iterable[Pattern]) -> PayloadParser | None:
    """The parser for a schema; None if the schema contains something that Arrow reads differently, or not at all."""
    if schema is None:
        return None
    if schema.type is SchemaType.STRING:
        return StringParser(tuple(patterns))
    if schema.type is not SchemaType.STRUCT or not schema.fields:
        return None
    types = [(member.name, _arrow_type(member.schema)) for member in schema.fields]
    fields = tuple((name, type_) for name, type_ in types if type_ is not None)
    decimals = [member for member in schema.fields if logical_name(member.schema) == DECIMAL]
    scales = {member.name: decimal_scale(member.schema) for member in decimals}
    times = frozenset(member.name for member in schema.fields if logical_name(member.schema) == TIME)
    return StructParser(tuple(patterns), fields, scales, times) if len(fields) == len(types) else None


@dataclass(frozen=True)
class PayloadParser(ABC):
    """Parses the payloads of one shape; pickled into the readers.

    :param patterns: the bytes around the payloads; the first pattern with which a batch begins is used.
    """

    patterns: tuple[Pattern, ...]
    brackets: ClassVar[tuple[bytes, bytes]]
    """The first and the last byte of a payload."""

    @property
    @abstractmethod
    def type(self) -> pa.DataType:
        """Type of the results."""

    @abstractmethod
    def _parsed(self, payloads: pa.Array) -> pa.Array | None:
        """The results, or None if Arrow rejects one of the payloads."""

    def parse(self, messages: pa.Array) -> pa.Array:
        """Parse the payload of each message.

        The messages of a batch that look alike are parsed all or none.

        :param messages: BINARY, a batch.
        :returns: null for messages that were not parsed.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        for pattern in self.patterns:
            here = looks_like(messages, pattern, self.brackets)
            count = pc.sum(here).as_py() or 0
            if not count:
                continue
            chosen = messages if count == len(messages) else messages.filter(here)
            parsed = self._parsed(pc.binary_slice(chosen, len(pattern.prefix), -len(pattern.suffix) or LONGEST))
            if parsed is None:
                break
            if count == len(messages):
                return parsed
            indices = pc.subtract(pc.cumulative_sum(here.cast(pa.int32())), 1)
            return parsed.take(pc.if_else(here, indices, None))
        return pa.nulls(len(messages), self.type)


@dataclass(frozen=True)
class StructParser(PayloadParser):
    """For structs.

    :param fields: names of the struct's fields, and their types in Arrow's JSON.
    :param scales: scale of the decimal fields; in JSON they are strings.
    :param times: names of the fields whose milliseconds are of a day.
    """

    fields: tuple[tuple[str, str], ...]
    scales: Mapping[str, int]
    times: frozenset[str] = frozenset()
    brackets = b"{", b"}"

    @property
    def type(self) -> pa.DataType:
        import pyarrow as pa

        def type_of(name: str, type_: str) -> pa.DataType:
            scale = self.scales.get(name)
            return pa.type_for_alias(type_) if scale is None else pa.decimal128(MAX_PRECISION, scale)

        return pa.struct([pa.field(name, type_of(name, type_)) for name, type_ in self.fields])

    def _parsed(self, payloads: pa.Array) -> pa.Array | None:
        import pyarrow as pa

        try:
            members = read_objects(payloads, self.fields, other_members="ignore")
            columns = None if members is None else [self._column(name, members[name]) for name, _ in self.fields]
        except ValueError:  # also Arrow's errors
            return None
        return None if columns is None else pa.StructArray.from_arrays(columns, fields=list(self.type))

    def _column(self, name: str, values: pa.Array) -> pa.Array:
        """:raises ValueError: a text is not a decimal of at most eight bytes, or a time is not of a day."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_floating(values.type):
            # As in BigDecimal, there is no negative zero.
            return pc.add(values, 0.0)
        if name in self.times and not _are_between(values, 0, DAY_MS - 1):
            raise ValueError
        scale = self.scales.get(name)
        return values if scale is None else decimals(values, scale)


@dataclass(frozen=True)
class StringParser(PayloadParser):
    """For strings, which Arrow reads as members of objects."""

    brackets = b'"', b'"'

    @property
    def type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.string()

    def _parsed(self, payloads: pa.Array) -> pa.Array | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if (texts := unescaped(payloads)) is not None:
            return texts
        objects = pc.binary_join_element_wise(pa.scalar(b'{"s":'), payloads, pa.scalar(b"}"), pa.scalar(b""))
        try:
            # Other members: it was not a string, but `"a","b":"c"`.
            members = read_objects(objects, (("s", "string"),), other_members="error")
        except ValueError:  # also Arrow's errors
            return None
        return None if members is None else members["s"]


def unescaped(payloads: pa.Array) -> pa.Array | None:
    """What is in the quotes of texts; None if one has other escapes than those of quotes, or is not a text."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(payloads) or pc.min(pc.binary_length(payloads)).as_py() < len('""'):
        return None
    texts = pc.binary_slice(payloads, 1, -1)
    data = content_of(texts)
    if not len(data):
        return texts.cast(pa.string())
    if data.min() < ord(" ") or not _has_only_escaped_quotes(texts, data):
        return None
    try:
        found = texts.cast(pa.string())
    except pa.ArrowInvalid:
        return None
    return pc.replace_substring(found, '\\"', '"') if np.any(data == _BACKSLASH) else found


def _has_only_escaped_quotes(texts: pa.Array, data: NDArray[np.uint8]) -> bool:
    """Whether each backslash is before a quote, and each quote after a backslash."""
    import numpy as np
    import pyarrow.compute as pc

    backslashes, quotes = np.flatnonzero(data == _BACKSLASH), np.count_nonzero(data == _QUOTE)
    if len(backslashes) != quotes or not quotes:
        return len(backslashes) == quotes
    # The last one of a text would otherwise be before the first quote of the next text.
    if backslashes[-1] == len(data) - 1 or pc.any(pc.ends_with(texts, b"\\")).as_py():
        return False
    return bool((data[backslashes + 1] == _QUOTE).all())


def read_objects(
    objects: pa.Array, fields: Iterable[tuple[str, str | pa.DataType]], *, other_members: str
) -> dict[str, pa.Array] | None:
    """The members of JSON objects; None if one of the texts is not a single object.

    :param objects: BINARY: texts in brackets.
    :param fields: the members to read: names and types, or aliases of types.
    :param other_members: ``ignore`` or ``error``.
    :raises ValueError: Arrow rejects one of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json

    lines = pc.binary_join_element_wise(objects, pa.scalar(b"\n"), pa.scalar(b""))
    size = lines.offset == 0 and pc.sum(pc.binary_length(lines)).as_py()
    document = lines.buffers()[2]
    if not size or document is None:
        return None
    text = document.slice(0, size)
    if not _is_text_of(text, len(objects)):
        return None
    names = pa.schema(list(fields))
    table = json.read_json(
        pa.BufferReader(text),
        json.ReadOptions(use_threads=False, block_size=size + 1),
        json.ParseOptions(explicit_schema=names, unexpected_field_behavior=other_members),
    )
    # Each line is one object or more, and there are as many: so each line is exactly one.
    if table.num_rows != len(objects):
        return None
    return {name: table.column(name).combine_chunks() for name in names.names}


def decimals(texts: pa.Array, scale: int) -> pa.Array:
    """Decimals of the base64 of their unscaled values.

    :raises ValueError: a text is not that, or of more than eight bytes.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = [None if text is None else _number(text) for text in texts.to_pylist()]
    values = decimals_of(np.array([number or 0 for number in numbers], np.int64), scale)
    return pc.if_else(pa.array([number is not None for number in numbers], pa.bool_()), values, None)


def _number(text: str) -> int:
    data = a2b_base64(text, strict_mode=True)
    if not 1 <= len(data) <= _LONG_BYTES:
        raise ValueError
    return int.from_bytes(data, "big", signed=True)


def _are_between(values: pa.Array, first: int, last: int) -> bool:
    import pyarrow.compute as pc

    edges = pc.min_max(values).as_py()
    return edges["min"] is None or (first <= edges["min"] and edges["max"] <= last)


def _arrow_type(schema: ConnectSchema) -> str | None:
    if logical_name(schema) == DECIMAL:
        return "string"
    return _ARROW.get(schema.type)


def looks_like(messages: pa.Array, pattern: Pattern, brackets: tuple[bytes, bytes]) -> pa.Array:
    """Whether messages consist of the pattern around something in these brackets."""
    import pyarrow.compute as pc

    first, last = brackets
    starts = pc.starts_with(messages, pattern.prefix + first)
    ends = pc.ends_with(messages, last + pattern.suffix)
    return pc.fill_null(pc.and_(starts, ends), False)


def has_no_number(document: bytes) -> bool:
    """Whether it may have NaN or an infinity as a value: JSON has neither, and Arrow reads them. A text may look so."""
    return (b"NaN" in document or b"Inf" in document) and _NO_NUMBER.search(document) is not None


def _is_text_of(document: pa.Buffer, lines: int) -> bool:
    """Whether it is UTF-8, with no line feeds except those between the payloads, and no numbers that are none."""
    import numpy as np
    import pyarrow as pa

    data = document.to_pybytes()
    # bytes.count takes three times as long for this many.
    if np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")) != lines:
        return False
    if has_no_number(data):
        return False
    if data.isascii():
        return True
    offsets = pa.py_buffer(b"\0\0\0\0" + len(data).to_bytes(4, "little"))
    try:
        pa.Array.from_buffers(pa.string(), 1, [None, offsets, document]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
