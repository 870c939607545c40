"""Texts as bytes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from airflow_kconnect.connectors.file.output import text_buffer

TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_text_buffer_honours_slices(type_: pa.DataType) -> None:
    column = pa.array(["ä\n", "", "bc\n", "d\n"], type_)
    assert bytes(text_buffer(column)) == "ä\nbc\nd\n".encode()
    assert bytes(text_buffer(column.slice(1, 2))) == b"bc\n"
    assert bytes(text_buffer(column.slice(2).slice(1))) == b"d\n"
    assert bytes(text_buffer(column.slice(4))) == b""


def test_text_buffer_is_not_a_copy() -> None:
    column = pa.array(["abc"])
    assert pa.py_buffer(text_buffer(column)).address == column.buffers()[2].address
