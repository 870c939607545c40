"""Bytes of target-state records, as Connect 4.3 writes them."""

from __future__ import annotations

import pytest

from airflow_kconnect.stores.target_states import (
    TargetState,
    decode_target_state,
    encode_target_state,
    target_state_key,
)


def test_key() -> None:
    assert target_state_key("fs-1") == b"target-state-fs-1"


@pytest.mark.parametrize(
    ("state", "value"),
    [
        (TargetState.STARTED, b'{"state":"STARTED","state.v2":"STARTED"}'),
        (TargetState.PAUSED, b'{"state":"PAUSED","state.v2":"PAUSED"}'),
        (TargetState.STOPPED, b'{"state":"PAUSED","state.v2":"STOPPED"}'),
    ],
)
def test_value(state: TargetState, value: bytes) -> None:
    assert encode_target_state(state) == value


@pytest.mark.parametrize("state", list(TargetState))
def test_what_is_written_can_be_read(state: TargetState) -> None:
    assert decode_target_state(encode_target_state(state)) is state


def test_an_older_worker_wrote_one_member() -> None:
    assert decode_target_state(b'{"state":"PAUSED"}') is TargetState.PAUSED


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b"{}", b'{"state":"GONE"}', b'{"state":"PAUSED","state.v2":7}'])
def test_anything_else_is_not_a_state(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expecting|JSON|TargetState"):
        decode_target_state(value)
