"""The wire format: ids and message indexes are read as they were written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.registry.wire import decode_indexes, encode_indexes, prefix, schema_id


@given(st.integers(0, 2**31 - 1), st.binary(max_size=8))
def test_an_id_is_read_as_it_was_written(number: int, payload: bytes) -> None:
    assert schema_id(prefix(number) + payload) == number


@pytest.mark.parametrize("message", [b"", b"\0\0\0\0", b"\1\0\0\0\1", b"{}", b"\0\xff\xff\xff\xff"])
def test_other_messages_have_no_id(message: bytes) -> None:
    assert schema_id(message) is None


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5), st.binary(max_size=8))
def test_indexes_are_read_as_they_were_written(indexes: list[int], rest: bytes) -> None:
    written = encode_indexes(indexes)

    # The count bounds the number of indexes, so they must fit into what is there.
    assert decode_indexes(written + rest + b"\0" * 8) == (tuple(indexes), len(written))


def test_the_first_message_is_a_single_zero() -> None:
    assert encode_indexes([0]) == b"\0"


@given(st.binary(max_size=12))
def test_damaged_indexes_are_an_error(data: bytes) -> None:
    try:
        indexes, end = decode_indexes(data)
    except ValueError:
        return
    assert 0 < end <= len(data)
    assert indexes
