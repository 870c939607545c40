"""Backfills from Airflow's UI: a browser fills in the form and clicks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.airflow.orders import Orders
from tests.support.pages import browser


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
@pytest.mark.exhaustive
def test_a_click_starts_a_backfill_that_replays_its_interval(orders: Orders, tmp_path: Path) -> None:
    orders.wait_until_no_backfill_is_active()
    before = len(orders.dag.runs("backfill"))

    with browser.opened(tmp_path) as page:
        page.start_backfill(orders.airflow.url, "orders", "2026/01/01 04:00", "2026/01/01 04:00")
    runs = orders.dag.wait_for_runs("backfill", before + 1)

    assert runs[-1]["state"] == "success"
    assert orders.replayed("2026-01-01T04-00-00Z--2026-01-01T05-00-00Z") == [f"r{n}" for n in range(40, 50)]
