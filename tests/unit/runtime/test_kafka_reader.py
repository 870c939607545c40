"""What the reader finds out about a whole batch of messages."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.runtime.kafka_reader import count_quotes


def slowly(message: bytes | None) -> int | None:
    """The same of one message, by the definition."""
    message = message or b""
    if any(byte < 0x20 or byte == 0x5C for byte in message):
        return None
    return message.count(b'"')


TEXTS = st.text(alphabet='a"\\\n\x1f é', max_size=6).map(str.encode)


@given(st.lists(st.none() | TEXTS, max_size=8))
def test_quotes_of_plain_messages(messages: list[bytes | None]) -> None:
    counts = count_quotes(pa.array(messages, pa.binary())).to_pylist()
    assert counts == [slowly(message) for message in messages]


@pytest.mark.parametrize("wrong", [b"\xff", b"\xc3", b"a\xed\xa0\x80"])
def test_bytes_that_are_no_utf_8_have_no_count(wrong: bytes) -> None:
    assert count_quotes(pa.array([wrong], pa.binary())).to_pylist() == [None]


def test_half_characters_at_the_edge_of_messages_have_no_count() -> None:
    assert count_quotes(pa.array(["é".encode()[:1], "é".encode()[1:]], pa.binary())).to_pylist() == [None, None]
