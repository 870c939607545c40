"""What counts as lag, and which sinks can be asked for it."""

from __future__ import annotations

import pytest

from airflow_kconnect.control.overview.lags import _can_be_asked, _lag
from airflow_kconnect.kafka.admin_answers import Bounds

BOUNDS = Bounds(begin=10, end=20, log_end=25)


@pytest.mark.parametrize(
    ("committed", "latest", "lag"),
    [
        (15, False, 10),
        (20, False, 5),  # of open transactions
        (22, False, 3),
        (None, False, 15),
        (None, True, 5),
        (5, False, 15),  # the records were deleted: a run begins where there are some
        (99, False, 15),
        (99, True, 15),
    ],
)
def test_lag_is_counted_to_the_end_of_the_log_as_by_kafkas_tools(committed: int | None, latest: bool, lag: int) -> None:
    assert _lag(committed, BOUNDS, latest=latest) == lag


@pytest.mark.parametrize(
    ("props", "asked"),
    [
        ({"topics": "t"}, True),
        ({"topics": "${env:T}"}, False),
        ({"topics.regex": "a.*", "consumer.override.group.id": "${env:G}"}, False),
        ({"topics": "t", "consumer.override.bootstrap.servers": "other:9092"}, False),
    ],
)
def test_who_can_be_asked(props: dict[str, str], asked: bool) -> None:
    assert _can_be_asked(props) is asked
