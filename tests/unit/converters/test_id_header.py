"""Headers that name schemas: what they say goes before the bytes of the record."""

from __future__ import annotations

from uuid import UUID

import pytest

from airflow_kconnect.converters.id_header import IdHeader, named
from airflow_kconnect.registry.wire import GUID, ID, encode_indexes, framing_of, schema_name

NAME = UUID("6a5c1f9e-0000-4000-8000-0123456789ab")
HEADER = IdHeader("__value_schema_id")
OF_PROTOBUF = IdHeader("__value_schema_id", with_indexes=True)


@pytest.mark.parametrize("value", [GUID.prefix(NAME), ID.prefix(7)], ids=["GUID", "id"])
def test_a_header_says_guid_or_id(value: bytes) -> None:
    assert HEADER.of([("other", b"x"), ("__value_schema_id", value)]) == value


@pytest.mark.parametrize("headers", [None, [], [("__key_schema_id", GUID.prefix(NAME))], [("__value_schema_id", None)]])
def test_without_it_nothing_is_said(headers: list[tuple[str, bytes | None]] | None) -> None:
    assert HEADER.of(headers) is None


def test_the_last_header_counts() -> None:
    assert HEADER.of([("__value_schema_id", ID.prefix(1)), ("__value_schema_id", ID.prefix(2))]) == ID.prefix(2)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (HEADER, b""),
        (HEADER, GUID.magic + b"short"),
        (HEADER, b"\7" + bytes(16)),
        (HEADER, GUID.prefix(NAME) + b"\0"),
        (OF_PROTOBUF, GUID.prefix(NAME)),
        (OF_PROTOBUF, GUID.prefix(NAME) + b"\0\0"),
    ],
    ids=["empty", "short", "other magic byte", "too long", "no indexes", "more than indexes"],
)
def test_a_damaged_header_names_no_schema(header: IdHeader, value: bytes) -> None:
    id_bytes = header.of([("__value_schema_id", value)])

    message = named(bytes(40), id_bytes)
    assert message is not None
    assert framing_of(message, (ID, GUID)) is None


@pytest.mark.parametrize("indexes", [[0], [1], [2, 0, 300]])
def test_message_indexes_follow_the_guid(indexes: list[int]) -> None:
    value = GUID.prefix(NAME) + encode_indexes(indexes)

    assert OF_PROTOBUF.of([("__value_schema_id", value)]) == value


def test_a_tombstone_stays_one() -> None:
    assert named(None, GUID.prefix(NAME)) is None


def test_a_guid_is_read_as_it_was_written() -> None:
    assert schema_name(GUID.prefix(NAME) + b"payload", GUID) == NAME
