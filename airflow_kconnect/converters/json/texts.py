"""Schemaless JSON, in batches, as VARIANT prints it: without blanks, members by name, numbers as Java writes them.

Most messages have their values in that form already, so that their members only have to be put in order. A batch with
anything else is left to Catalyst: escapes that are not needed, nested objects, numbers with more digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.converters.java_columns import double_texts
from airflow_kconnect.converters.json.batches import StringParser, looks_like, unescaped
from airflow_kconnect.converters.json.envelopes import Pattern
from airflow_kconnect.converters.registered.slices import bytes_of, content_of, of_offsets, offsets_of, scattered

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_LONGEST = 1_000_000
"""VARIANT has a limit, and so do the offsets of a batch."""
_QUOTE, _COLON, _BACKSLASH, _BLANK, _LINE_FEED = b'":\\ \n'
_ESCAPED = b'"\\bfnrt'
"""What has to be escaped, and is by a backslash."""
_INTEGER = "(?:0|-?[1-9][0-9]{0,17})"
_DOUBLE = r"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?"
_SCALAR = f'(?:""|true|false|null|{_INTEGER})'
_LIST = rf"\[(?:{_SCALAR}(?:, ?{_SCALAR})*)?\]"
_MEMBER = f'"": ?(?:{_SCALAR}|{_DOUBLE}|{_LIST})'
_MESSAGES = rf"^(?:(?:{_SCALAR}|{_LIST}|\{{(?:{_MEMBER}(?:, ?{_MEMBER})*)?\}})\n)*$"
"""Messages whose strings are empty. Each has a line."""


class SchemalessParser:
    """Pickled into the readers."""

    @property
    def type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.string()

    def parse(self, messages: pa.Array) -> pa.Array:
        import pyarrow as pa

        given = messages.drop_null() if messages.null_count else messages
        made = _canonical(given)
        if made is None:
            return pa.nulls(len(messages), self.type)
        return scattered(made, messages.is_valid().to_numpy(zero_copy_only=False))


def _canonical(messages: pa.Array) -> pa.Array | None:
    """The messages as VARIANT prints them; None if that is not certain."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (
        pc.all(looks_like(messages, Pattern(b"", b""), StringParser.brackets)).as_py()
        and unescaped(messages) is not None
    ):
        return messages.cast(pa.string())
    batch = _Batch.of(messages)
    return None if batch is None else batch.canonical()


class _Batch:
    """Messages that end with a line feed each, and where their strings begin and end.

    :param ends: of the messages in `data`, the line feeds included.
    :param opening: where the strings have their first quotes. :param closing: where they have their last ones.
    """

    def __init__(
        self, lines: pa.Array, data: NDArray[np.uint8], opening: NDArray[np.int64], closing: NDArray[np.int64]
    ) -> None:
        self._lines, self._data, self._opening, self._closing = lines, data, opening, closing
        self._ends = offsets_of(lines)[1:]

    @classmethod
    def of(cls, messages: pa.Array) -> _Batch | None:
        """None: there is something in the messages that is unusual, or wrong."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(messages) or pc.max(pc.binary_length(messages)).as_py() > _LONGEST:
            return None
        try:
            messages.cast(pa.string())
        except pa.ArrowInvalid:
            return None
        content = content_of(messages)
        if not len(content) or content.min() < _BLANK:
            return None
        lines = pc.binary_join_element_wise(messages, pa.scalar(b"\n"), pa.scalar(b""))
        data = bytes_of(lines)[: offsets_of(lines)[-1]]
        quotes = np.flatnonzero(data == _QUOTE)
        escaped = _escaped(data)
        if escaped is None:
            return None
        if len(escaped):
            quotes = quotes[~np.isin(quotes, escaped)]
        if len(quotes) % 2:
            return None
        return cls(lines, data, quotes[::2], quotes[1::2])

    def canonical(self) -> pa.Array | None:
        """The messages as VARIANT prints them; None if one is not of the usual form."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        gaps = self._gaps()
        outside = content_of(gaps)
        skeleton = outside.tobytes()
        if np.count_nonzero(outside == _LINE_FEED) != len(self._lines):  # a string would reach into the next message
            return None
        if not pc.match_substring_regex(pa.array([skeleton]), _MESSAGES)[0].as_py() or not _doubles_are_canonical(gaps):
            return None
        batch = _Batch.of(self._without_blanks(gaps)) if b" " in skeleton else self
        return None if batch is None else batch._in_order()

    def _gaps(self) -> pa.Array:
        """What is outside of strings, their quotes included."""
        import numpy as np
        import pyarrow as pa

        self._pieces = _pieces(self._data, self._opening + 1, self._closing)
        return self._pieces.take(pa.array(np.arange(0, len(self._pieces), 2)))

    def _without_blanks(self, gaps: pa.Array) -> pa.Array:
        """The messages without the blanks outside of strings."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        contents = self._pieces.take(pa.array(np.arange(1, len(self._pieces), 2)))
        gaps = pc.replace_substring(gaps, pattern=b" ", replacement=b"")
        both = pa.chunked_array([gaps, contents]).combine_chunks()
        order = np.empty(len(both), np.int64)
        order[::2], order[1::2] = np.arange(len(gaps)), np.arange(len(contents)) + len(gaps)
        whole = pc.binary_join(pa.ListArray.from_arrays([0, len(both)], both.take(pa.array(order))), b"")
        return pc.split_pattern(whole, b"\n").flatten()[:-1]

    def _in_order(self) -> pa.Array | None:
        """The messages with the members of objects in the order of their names; None if one has a name twice."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        is_name = self._data[self._closing + 1] == _COLON
        first, last = self._opening[is_name], self._closing[is_name]
        texts = self._lines
        if len(first):
            counts = np.diff(np.searchsorted(first, self._ends), prepend=0)
            message = np.repeat(np.arange(len(counts)), counts)
            ranks = _ranks(self._data, first, last)
            if ranks is None:
                return None
            order, same = _order(message, ranks)
            if same is None:
                return None
            if not same:
                texts = self._joined(first, message, order)
        return pc.binary_slice(texts, 0, -1).cast(pa.string())

    def _joined(self, first: NDArray[np.int64], message: NDArray[np.int64], order: NDArray[np.int64]) -> pa.Array:
        """The messages with their members in this order.

        :param first: where the members begin. :param message: to which each of them belongs.
        """
        import numpy as np
        import pyarrow as pa

        is_last = np.append(message[1:] != message[:-1], True)
        ends = np.append(first[1:], 0) - 1  # where commas are
        ends[is_last] = self._ends[message[is_last]] - 2  # where braces are
        pieces = _pieces(self._data, first, ends)
        indices = np.arange(len(pieces))
        indices[1::2] = 2 * order + 1
        # Members of a message only change places.
        return of_offsets(offsets_of(self._lines), content_of(pieces.take(pa.array(indices))))


def _pieces(data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> pa.Array:
    """The data as a BINARY column: its odd rows are what is between a begin and an end."""
    import numpy as np

    bounds = np.empty(2 * len(begins) + 2, np.int64)
    bounds[0], bounds[-1] = 0, len(data)
    bounds[1:-1:2], bounds[2:-1:2] = begins, ends
    return of_offsets(bounds, data)


def _escaped(data: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Where the characters after backslashes are that escape them; None if one would not be escaped."""
    import numpy as np

    backslashes = np.flatnonzero(data == _BACKSLASH)
    if not len(backslashes):
        return backslashes
    begins = np.append(True, np.diff(backslashes) != 1)
    begin_of_each = np.maximum.accumulate(np.where(begins, np.arange(len(backslashes)), 0))
    escaping = (np.arange(len(backslashes)) - begin_of_each) % 2 == 0
    escaped: NDArray[np.int64] = backslashes[escaping] + 1
    return escaped if np.isin(data[escaped], np.frombuffer(_ESCAPED, np.uint8)).all() else None


def _doubles_are_canonical(gaps: pa.Array) -> bool:
    """Whether the doubles of members are as Java writes them: each is in a gap of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with_points = gaps.filter(pc.match_substring(gaps, ".")).cast(pa.string())
    if not len(with_points):
        return True
    given = pc.struct_field(pc.extract_regex(with_points, '^": ?(?P<number>[-0-9.E]+)'), "number")
    if given.null_count:
        return False
    # As in BigDecimal, there is no negative zero.
    made = double_texts(pc.add(given.cast(pa.float64()), 0.0))
    return made is not None and pc.all(pc.equal(made, given)).as_py() is True


def _ranks(data: NDArray[np.uint8], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The place of each name among all of them; None if one has escapes."""
    import numpy as np
    import pyarrow as pa

    pieces = _pieces(data, first + 1, last)
    names = pieces.take(pa.array(np.arange(1, len(pieces), 2))).dictionary_encode()
    texts = [name.decode() for name in names.dictionary.to_pylist()]
    if any("\\" in text for text in texts):
        return None
    # As Java compares strings.
    order = sorted(range(len(texts)), key=lambda n: texts[n].encode("utf-16-be"))
    ranks = np.empty(len(texts), np.int64)
    ranks[order] = np.arange(len(texts))
    of_each: NDArray[np.int64] = ranks[names.indices.to_numpy()]
    return of_each


def _order(message: NDArray[np.int64], ranks: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool | None]:
    """The order of members, and whether it is the one they have; None if a message has a name twice."""
    import numpy as np

    keys = message * (ranks.max() + 1) + ranks
    steps = np.diff(keys)
    if (steps > 0).all():
        return np.arange(len(keys)), True
    order = np.argsort(keys, kind="stable")
    return order, None if (np.diff(keys[order]) == 0).any() else False
