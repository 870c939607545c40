"""What a DAG run means for a connector."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.operators.intervals import RunMode, run_mode, run_params

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def context(
    run_type: str = "backfill",
    start: datetime | None = START,
    end: datetime | None = START + HOUR,
    clear_number: int = 0,
    try_number: int = 1,
    **params: Any,
) -> Any:
    run = SimpleNamespace(
        run_type=run_type, data_interval_start=start, data_interval_end=end, clear_number=clear_number
    )
    ti = SimpleNamespace(dag_id="d", run_id="manual__1", task_id="t", map_index=-1, try_number=try_number)
    return {"dag_run": run, "ti": ti, "params": params}


@pytest.mark.parametrize("run_type", ["scheduled", "manual", "asset_triggered"])
def test_other_runs_resume(run_type: str) -> None:
    assert run_mode(context(run_type)) == RunMode()


def test_a_run_without_interval_resumes() -> None:
    assert run_mode(context("asset_triggered", None, None)) == RunMode()


def test_a_backfill_replays_its_interval() -> None:
    replay = run_mode(context()).replay
    assert replay is not None
    assert str(replay) == "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"


def test_a_retry_has_the_same_key() -> None:
    assert run_mode(context(try_number=1)) == run_mode(context(try_number=2))


def test_a_cleared_run_has_another_key() -> None:
    first, second = run_mode(context()).replay, run_mode(context(clear_number=1)).replay
    assert first is not None
    assert second is not None
    assert first.key != second.key


@pytest.mark.parametrize(("start", "end"), [(START, START), (None, None), (START + HOUR, START)])
def test_a_backfill_needs_an_interval(start: datetime | None, end: datetime | None) -> None:
    with pytest.raises(ConfigError, match="CronDataIntervalTimetable"):
        run_mode(context(start=start, end=end))


class TestBackfillOverAManualRun:
    """Airflow makes a backfill of it, with the date of the backfill's interval and the data interval before that."""

    @staticmethod
    def taken_over(**params: Any) -> Any:
        of_run = context(start=START - HOUR, end=START, **params)
        of_run["dag_run"].logical_date = START
        return of_run

    def test_the_interval_before_is_not_moved(self) -> None:
        with pytest.raises(ConfigError, match=r"begins at 2026-01-01 00:00.*Delete the DAG run"):
            run_mode(self.taken_over())

    def test_an_interval_that_is_given_is_moved(self) -> None:
        given = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T01:00:00Z"}
        assert str(run_mode(self.taken_over(**given)).replay) == "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"

    def test_a_run_of_the_schedule_is_moved(self) -> None:
        of_run = context()
        of_run["dag_run"].logical_date = START
        assert str(run_mode(of_run).replay) == "2026-01-01T00:00:00Z/2026-01-01T01:00:00Z"


def test_params_give_a_manual_run_an_interval() -> None:
    given: dict[str, Any] = {"mode": "replay", "from": "2026-02-01T00:00:00Z", "to": "2026-02-01T02:00:00+01:00"}
    replay = run_mode(context("manual", **given)).replay
    assert str(replay) == "2026-02-01T00:00:00Z/2026-02-01T01:00:00Z"


def test_params_can_have_a_backfill_resume() -> None:
    assert run_mode(context(mode="resume", max_records=7)) == RunMode(None, False, 7)


def test_params_can_have_a_run_send_dead_letters() -> None:
    assert run_mode(context("manual", mode="dead_letters", dry_run=True)) == RunMode(None, True, dead_letters=True)


@pytest.mark.parametrize(
    "given",
    [
        {"mode": "again"},
        {"mode": "replay", "from": "yesterday"},
        {"mode": "dead_letters", "from": "2026-02-01T00:00:00Z"},
    ],
)
def test_params_that_make_no_sense_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="params"):
        run_mode(context("manual", **given))


def test_the_form_has_defaults_that_change_nothing() -> None:
    defaults = {name: param.value for name, param in run_params().items()}
    assert run_mode(context("scheduled", **defaults)) == RunMode()


def test_the_form_tells_its_interval_from_that_of_a_backfill() -> None:
    params = run_params()
    for name, title in (("from", "Replay from"), ("to", "Replay to")):
        assert params[name].schema["title"] == title
        assert "Leave it empty in a backfill" in str(params[name].schema["description_md"])


def test_the_form_has_no_code_marks_which_overlap_in_airflow() -> None:
    assert not [name for name, param in run_params().items() if "`" in str(param.schema.get("description_md"))]
