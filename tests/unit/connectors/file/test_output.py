"""What file writing sinks share."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from airflow_kconnect.connectors.file.output import HIDDEN_SUFFIX, hidden_name, text_buffer

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


def test_hidden_names_are_unique_and_recognised() -> None:
    one, other = hidden_name("a.txt"), hidden_name("a.txt")
    assert one != other
    assert re.fullmatch(r"\.a\.txt" + HIDDEN_SUFFIX, one)
