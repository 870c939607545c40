"""What upkeep must leave alone."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.upkeep import DAY_MS, STEPS, Step, Upkeep, older_than_ms
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.spec import RunSpec

NOW = 1_000 * DAY_MS
HOUR = DAY_MS // 24


@pytest.mark.parametrize(
    ("keep_days", "unfinished", "expected"),
    [
        (7, [], NOW - 7 * DAY_MS),
        (0, [], NOW - HOUR),
        (0.5, [], NOW - 12 * HOUR),
        (7, [NOW - HOUR], NOW - 7 * DAY_MS),
        (7, [NOW - HOUR, NOW - 30 * DAY_MS], NOW - 30 * DAY_MS - HOUR // 6),
    ],
)
def test_what_is_young_or_needed_by_an_unfinished_plan_stays(
    keep_days: float, unfinished: list[int], expected: int
) -> None:
    assert older_than_ms(Upkeep(keep_days=keep_days), NOW, unfinished) == expected


def test_all_errors_of_an_order_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        Upkeep(steps=["compact", "polish"], keep_days=-1)
    assert caught.value.errors == {
        "steps": ["polish is unknown; there are compact, metadata, expire, orphans"],
        "keep_days": ["-1 is negative"],
    }


def test_orphans_are_looked_for_only_if_they_are_named() -> None:
    assert not Upkeep().has(Step.ORPHANS) and Upkeep(steps=["orphans"]).has(Step.ORPHANS)


def test_a_run_spec_carries_it_and_moves_nothing() -> None:
    spec = RunSpec({"name": "c"}, {}, upkeep=Upkeep(list(STEPS), ["lake.a.b"], 3.0, 5.0))
    read = RunSpec.of(spec.as_dict())
    assert (read.upkeep, read.moves, read.live) == (spec.upkeep, False, False)
