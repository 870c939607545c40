"""Backfills in a whole Airflow, created by its REST API, next to a live run that is at work."""

from __future__ import annotations

import pytest

from tests.support.airflow.orders import Orders


@pytest.mark.spark_submit
@pytest.mark.timeout(900)
class TestBackfill:
    """In this order: each test continues with what the one before has left."""

    def test_replays_its_interval_next_to_a_live_run_that_is_at_work(self, orders: Orders) -> None:
        orders.wait_until_live_run_is_at_work()
        interval = {"from_date": "2026-01-01T01:00:00Z", "to_date": "2026-01-01T01:00:00Z"}
        orders.airflow.ask("POST", "/api/v2/backfills", {"dag_id": "orders", **interval, "max_active_runs": 1})
        (backfill,) = orders.dag.wait_for_runs("backfill", 1)
        live = orders.let_live_run_go()

        assert [run["state"] for run in (backfill, live)] == ["success"] * 2, orders.airflow.text()[-5000:]
        assert orders.dag.report(backfill)["replay"] == "2026-01-01T01:00:00Z/2026-01-01T02:00:00Z"
        assert orders.replayed("2026-01-01T01-00-00Z--2026-01-01T02-00-00Z") == [f"r{n}" for n in range(10, 20)]
        assert orders.moved() == [f"r{n}" for n in range(60)]

    @pytest.mark.exhaustive
    def test_replays_again_what_is_cleared(self, orders: Orders) -> None:
        run = orders.dag.runs("backfill")[0]

        cleared = orders.dag.clear(run)

        assert (cleared["state"], orders.dag.report(cleared)["records"]["written"]) == ("success", 10)
        assert orders.replayed("2026-01-01T01-00-00Z--2026-01-01T02-00-00Z") == [f"r{n}" for n in range(10, 20)]
