"""What sensors and triggers wait for: which bounds make sense, when a lag satisfies them, how they travel."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.conditions import (
    LagCondition,
    SinkOffsetCondition,
    SourceOffsetCondition,
    StateCondition,
    TimestampCondition,
    condition_from_dict,
    condition_to_dict,
)


class TestLagBounds:
    @pytest.mark.parametrize(
        ("bounds", "key"),
        [
            pytest.param({}, "min_records", id="none"),
            pytest.param({"min_records": 1, "max_records": 5}, "min_records", id="of both kinds"),
            pytest.param({"min_records": 0}, "min_records", id="always met"),
            pytest.param({"min_seconds": 0}, "min_seconds", id="seconds that are always met"),
            pytest.param({"max_records": -1}, "max_records", id="never met"),
            pytest.param({"max_seconds": -0.5}, "max_seconds", id="seconds that are never met"),
        ],
    )
    def test_bounds_that_make_no_sense(self, bounds: dict[str, Any], key: str) -> None:
        with pytest.raises(ConfigError) as caught:
            LagCondition(**bounds)
        assert list(caught.value.errors) == [key]

    @pytest.mark.parametrize(
        ("bounds", "records", "seconds", "met"),
        [
            pytest.param({"min_records": 5}, 4, None, False, id="too few"),
            pytest.param({"min_records": 5}, 5, None, True, id="enough"),
            pytest.param({"min_seconds": 60}, 1, 59.9, False, id="too young"),
            pytest.param({"min_seconds": 60}, 1, 60.0, True, id="old enough"),
            pytest.param({"min_records": 5, "min_seconds": 60}, 1, 61.0, True, id="few but old"),
            pytest.param({"min_records": 5, "min_seconds": 60}, 5, 0.0, True, id="young but many"),
            pytest.param({"min_records": 5, "min_seconds": 60}, 4, 59.0, False, id="few and young"),
            pytest.param({"max_records": 0}, 0, None, True, id="caught up"),
            pytest.param({"max_records": 0}, 1, None, False, id="not caught up"),
            pytest.param({"max_seconds": 60}, 9, 60.0, True, id="recent enough"),
            pytest.param({"max_records": 5, "max_seconds": 60}, 5, 61.0, False, id="few but too old"),
            pytest.param({"max_records": 5, "max_seconds": 60}, 6, 1.0, False, id="young but too many"),
        ],
    )
    def test_a_lag_satisfies_them(self, bounds: dict[str, Any], records: int, seconds: float | None, met: bool) -> None:
        assert LagCondition(**bounds).met(records, seconds) is met


class TestStates:
    def test_unknown_ones_are_named(self) -> None:
        with pytest.raises(ConfigError, match=r"RUNNING; expected some of: STARTED, PAUSED, STOPPED"):
            StateCondition(["STARTED", "RUNNING"])

    def test_there_must_be_one(self) -> None:
        with pytest.raises(ConfigError, match="is empty"):
            StateCondition([])


@pytest.mark.parametrize(
    "condition",
    [
        LagCondition(min_records=5, min_seconds=1.5, topic="a"),
        LagCondition(max_records=0),
        SourceOffsetCondition({"filename": "/in"}, {"position": 7}),
        SinkOffsetCondition("orders", 3, 100),
        TimestampCondition(1_767_225_600_000),
        StateCondition(["PAUSED", "STOPPED"]),
    ],
    ids=lambda condition: condition.kind,
)
def test_a_condition_survives_its_way_through_json(condition: Condition) -> None:
    assert condition_from_dict(condition_to_dict(condition)) == condition
