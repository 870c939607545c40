"""The record of a sink's plans."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.stores.offset_topic.records import sink_of, sink_plan_key
from airflow_kconnect.stores.sink_plans import PlanState

ranges = st.builds(SinkSplit, st.text(), st.integers(0, 9), st.integers(0), st.integers(0))
states = st.builds(
    PlanState,
    st.text(min_size=1),
    st.integers(0),
    st.lists(ranges).map(tuple),
    st.lists(st.text()).map(tuple),
    st.dictionaries(st.text(), st.integers(0)),
)


@given(states)
def test_a_state_is_what_was_encoded(state: PlanState) -> None:
    assert PlanState.decode(state.encode()) == state


def test_its_key_is_none_of_a_topic() -> None:
    """Older versions skip it: it begins as the keys of sinks do."""
    assert (json.loads(sink_plan_key("connect-a")), sink_of(sink_plan_key("connect-a"))) == (
        ["kconnect", "sink", "connect-a"],
        None,
    )


@pytest.mark.parametrize("value", [b"{}", b"[]", b'{"version":2}', b'{"version":1}', b"nonsense"])
def test_other_bytes_are_refused(value: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        PlanState.decode(value)
