"""Texts within the quotes of JSON, in Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connectors.file.output import text_buffer

if TYPE_CHECKING:
    import pyarrow as pa

# As Jackson writes them. The backslash is first: the escapes of the others contain one.
_ESCAPES = {"\\": "\\\\", '"': '\\"'} | {chr(code): f"\\u{code:04X}" for code in range(0x20)}
_ESCAPES |= {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escaped(column: pa.Array) -> pa.Array:
    """Texts as they are in JSON; null stays null."""
    import numpy as np
    import pyarrow.compute as pc

    data = text_buffer(column).tobytes()
    # Most texts have none of them, and looking for one byte is quicker than counting all.
    controls = data and np.frombuffer(data, np.uint8).min() < ord(" ")
    for character, escape in _ESCAPES.items():
        if (controls or character in '\\"') and character.encode() in data:
            column = pc.replace_substring(column, character, escape)
    return column


def quoted(column: pa.Array) -> pa.Array:
    """Texts as JSON lines; nulls as ``null``."""
    import pyarrow.compute as pc

    lines = pc.binary_join_element_wise('"', escaped(column), '"\n', "")
    return pc.coalesce(lines, "null\n") if column.null_count else lines
