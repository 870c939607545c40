"""Lines of text out of payloads that were parsed where they were read, by Arrow alone.

They are the lines of `text.text_lines`. A batch with anything that would differ is left to it as a whole.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart
from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.converters.java_columns import DAY_S, date_texts, double_texts
from airflow_kconnect.converters.types import is_misnamed

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Pieces = list[str | pa.Array]
    """Texts that follow each other in each row; one that is the same in all rows is a str."""

_LONGEST = 2**31 - 1
"""The end of a slice: pyarrow fails without one."""
_PER_S = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class NeedsCatalystError(Exception):
    """There is a value whose text only Catalyst can make."""


class PlainText(BatchRenderer):
    """Pickled into the tasks.

    :param schemas: by the number of their shape.
    """

    def __init__(self, schemas: Mapping[int, ConnectSchema]) -> None:
        self._schemas = schemas

    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        import pyarrow as pa

        schema = self._schemas.get(value[0])
        if schema is None:
            return None
        try:
            lines = _joined([*_pieces(schema, value[1]), "\n"], len(offsets))
        except NeedsCatalystError:
            return None
        return pa.record_batch({"line": lines, "kafka_offset": offsets, "error": pa.nulls(len(offsets), pa.string())})


def plain_text(shapes: Sequence[Shape]) -> PlainText | None:
    """The renderer for values of these shapes; None if Catalyst has to render them all."""
    schemas = {n: s.schema for n, s in enumerate(shapes) if s.schema is not None and _is_plain(s.schema)}
    return PlainText(schemas) if schemas else None


def _is_plain(schema: ConnectSchema) -> bool:
    """Whether Arrow can make the text of most values."""
    if is_misnamed(schema) or schema.type is SchemaType.FLOAT32:
        return False
    inner = [*(member.schema for member in schema.fields), schema.key_schema, schema.value_schema]
    return all(_is_plain(each) for each in inner if each is not None)


def _pieces(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The text of each value.

    :param column: without nulls.
    :raises NeedsCatalystError: see there.
    """
    match schema.type:
        case SchemaType.STRUCT:
            return ["Struct{", *_members(schema, column), "}"]
        case SchemaType.ARRAY:
            return ["[", _lists(column, _item(schema.value_schema, column.flatten())), "]"]
        case SchemaType.MAP:
            return ["{", _lists(column, _entries(schema, column)), "}"]
        case _:
            return [_leaf(schema, column)]


def _members(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The members of structs that have a value, with commas in between."""
    uncertain: Pieces = []  # members before the first that all structs have: any of them may come first
    certain: Pieces = []
    for member, values in zip(schema.fields, column.flatten(), strict=True):
        if values.null_count and (not member.schema.optional or member.schema.default is not None):
            raise NeedsCatalystError
        prefix = f",{member.name}="
        if values.null_count:
            texts = _nullable(prefix, member.schema, values).fill_null("")
            (certain or uncertain).append(texts)
        else:
            certain += [prefix, *_pieces(member.schema, values)]
    return _without_first_comma(uncertain, certain, len(column))


def _without_first_comma(uncertain: Pieces, certain: Pieces, count: int) -> Pieces:
    import pyarrow as pa
    import pyarrow.compute as pc

    if uncertain:
        texts = _joined(uncertain, count)
        commas = pc.if_else(pc.equal(pc.binary_length(texts), 0), "", ",")
        uncertain = [
            pc.binary_slice(texts.view(pa.binary()), 1, _LONGEST).view(pa.string()),
            *([commas] if certain else []),
        ]
    return [*uncertain, *(str(piece).removeprefix(",") for piece in certain[:1]), *certain[1:]]


def _nullable(prefix: str, schema: ConnectSchema, column: pa.Array) -> pa.Array:
    """The texts with a prefix; null stays null."""
    import numpy as np
    import pyarrow as pa

    if not column.null_count:
        return _joined([prefix, *_pieces(schema, column)], len(column))
    given = column.is_valid().to_numpy(zero_copy_only=False)
    texts = _joined([prefix, *_pieces(schema, column.drop_null())], int(given.sum()))
    return texts.take(pa.array(np.cumsum(given) - 1, mask=~given))


def _item(schema: ConnectSchema | None, column: pa.Array) -> pa.Array:
    """The texts of what is in lists or maps; null is ``null``."""
    assert schema is not None
    return _nullable("", schema, column).fill_null("null")


def _entries(schema: ConnectSchema, column: pa.Array) -> pa.Array:
    """The texts of the entries of all maps."""
    first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
    keys, values = column.keys.slice(first, last - first), column.items.slice(first, last - first)
    return _joined([_item(schema.key_schema, keys), "=", _item(schema.value_schema, values)], last - first)


def _lists(column: pa.Array, items: pa.Array) -> pa.Array:
    """The items of each list or map, with commas in between."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = pc.subtract(column.offsets, column.offsets[0])
    return pc.binary_join(pa.ListArray.from_arrays(offsets, items), ", ")


def _joined(pieces: Pieces, count: int) -> pa.Array:
    """The pieces of each row as one text.

    :param count: number of rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    merged: Pieces = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif not isinstance(piece, str) or piece:
            merged.append(piece)
    if not any(isinstance(piece, pa.Array) for piece in merged):
        return pa.repeat("".join(map(str, merged)), count)
    return pc.binary_join_element_wise(*merged, "") if len(merged) > 1 else merged[0]


def _leaf(schema: ConnectSchema, column: pa.Array) -> pa.Array:
    import pyarrow as pa

    if schema.name in (DATE, TIME, TIMESTAMP):
        return _certain(date_texts(_seconds(schema, column)))
    if schema.type is SchemaType.FLOAT64:
        return _certain(double_texts(column))
    if schema.type is SchemaType.BYTES and schema.name != DECIMAL:
        return pa.array([b2a_base64(data, newline=False) for data in column.to_pylist()], pa.binary()).cast(pa.string())
    return column.cast(pa.string())


def _seconds(schema: ConnectSchema, column: pa.Array) -> NDArray[np.int64]:
    """Times as seconds since the epoch."""
    import numpy as np
    import pyarrow as pa

    if schema.name == DATE:
        seconds: NDArray[np.int64] = column.view(pa.int32()).to_numpy().astype(np.int64) * DAY_S
        return seconds
    per_s = _PER_S[column.type.unit] if pa.types.is_timestamp(column.type) else _PER_S["ms"]
    wide = column.view(pa.int64()) if schema.name == TIMESTAMP else column.cast(pa.int64())
    seconds = wide.to_numpy() // per_s
    return seconds


def _certain(texts: pa.Array | None) -> pa.Array:
    if texts is None:
        raise NeedsCatalystError
    return texts
