"""The wire format: ids and message indexes are read as they were written."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.registry.wire import (
    GLUE,
    GLUE_ZLIB,
    ID,
    Framing,
    decode_index,
    decode_indexes,
    encode_index,
    encode_indexes,
    framing_of,
    schema_name,
)


@given(st.integers(0, 2**31 - 1), st.binary(max_size=8))
def test_an_id_is_read_as_it_was_written(number: int, payload: bytes) -> None:
    message = ID.prefix(number) + payload

    assert (framing_of(message), schema_name(message, ID)) == (ID, number)


@pytest.mark.parametrize("message", [b"", b"\0\0\0\0", b"\1\0\0\0\1", b"{}", b"\3\1" + bytes(16), b"\3\0" + bytes(15)])
def test_other_messages_name_no_schema(message: bytes) -> None:
    assert framing_of(message) is None


def test_a_negative_number_is_no_id() -> None:
    assert schema_name(b"\0\xff\xff\xff\xff", ID) is None


@pytest.mark.parametrize(("framing", "second"), [(GLUE, 0), (GLUE_ZLIB, 5)], ids=["plain", "compressed"])
def test_glue_names_versions_by_uuids_after_two_bytes(framing: Framing, second: int) -> None:
    name = UUID("00112233-4455-6677-8899-aabbccddeeff")

    message = framing.prefix(name) + b"payload"

    assert message == bytes([3, second]) + bytes.fromhex("00112233445566778899aabbccddeeff") + b"payload"
    assert (framing_of(message), schema_name(message, framing)) == (framing, name)


@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5), st.binary(max_size=8))
def test_indexes_are_read_as_they_were_written(indexes: list[int], rest: bytes) -> None:
    written = encode_indexes(indexes)

    # The count bounds the number of indexes, so they must fit into what is there.
    assert decode_indexes(written + rest + b"\0" * 8) == (tuple(indexes), len(written))


@given(st.integers(0, 2**31 - 1), st.binary(max_size=8))
def test_the_number_of_a_type_is_read_as_it_was_written(number: int, rest: bytes) -> None:
    written = encode_index(number)

    assert decode_index(written + rest) == (number, len(written))


def test_the_number_of_a_type_has_no_sign() -> None:
    """Protobuf's encoding of 150 in its documentation."""
    assert encode_index(150) == b"\x96\x01"


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
