"""Intervals that a user types, and the keys of their replays."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.replays import check_replay, interval_replay

DAY = "2026-01-01/2026-01-02"


class TestIntervalReplay:
    @pytest.mark.parametrize(
        "text",
        [DAY, "2026-01-01T00:00:00Z/2026-01-02T00:00Z", "2026-01-01T01:00+01:00/2026-01-02T00:00:00", f" {DAY} "],
    )
    def test_the_end_is_exclusive_and_times_are_in_utc_unless_they_name_a_zone(self, text: str) -> None:
        assert str(interval_replay("c", text)) == "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"

    def test_the_same_interval_has_the_same_key(self) -> None:
        assert interval_replay("c", DAY) == interval_replay("c", "2026-01-01T00:00:00Z/2026-01-02T00:00:00Z")

    @pytest.mark.parametrize(("connector", "text"), [("d", DAY), ("c", "2026-01-01/2026-01-03")])
    def test_another_connector_or_interval_has_another_key(self, connector: str, text: str) -> None:
        assert interval_replay("c", DAY).key != interval_replay(connector, text).key

    def test_again_means_a_new_key(self) -> None:
        keys = {interval_replay("c", DAY, again=again).key for again in (False, True, True)}
        assert len(keys) == 3

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("2026-01-01", "is not an interval"),
            ("yesterday/today", "'yesterday' is not a point in time"),
            ("2026-01-01/", "'' is not a point in time"),
            ("2026-01-01/2026-01-01", "is empty"),
            ("2026-01-02/2026-01-01", "ends before it begins"),
        ],
    )
    def test_what_is_not_an_interval(self, text: str, problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            interval_replay("c", text)


class TestCheck:
    def test_a_sink_that_may_store_records_twice_is_refused(self) -> None:
        with pytest.raises(
            ConfigError, match="VerifiableSink does not declare that writing records again does no harm"
        ):
            check_replay({"name": "c", "connector.class": "VerifiableSink"})

    def test_a_sink_that_says_it_does_not_is_allowed(self) -> None:
        check_replay({"name": "c", "connector.class": "DirectorySink"})
