"""Folders of moments."""

from __future__ import annotations

import datetime
import pickle
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from airflow_kconnect.connectors.cloud_storage.rules.partitions import DAY_MS, HOUR_MS, NOT_A_FOLDER, ByTime
from airflow_kconnect.connectors.cloud_storage.rules.path_format import PathFormat

HOURS = "'day'=dd/'hour'=HH"


def by_time(pattern: str = HOURS, duration_ms: int = HOUR_MS, zone: str = "UTC") -> ByTime:
    return ByTime(PathFormat(pattern, zone), duration_ms)


def folders(partitioner: ByTime, *moments: str) -> list[str]:
    times = [int(datetime.datetime.fromisoformat(each).timestamp() * 1000) for each in moments]
    found, codes = partitioner.folders(np.array(times, np.int64))
    return [found[code] for code in codes]


@pytest.mark.parametrize(
    ("duration_ms", "pattern", "moment", "folder"),
    [
        (HOUR_MS, HOURS, "2024-03-05T13:59:59.999Z", "day=05/hour=13"),
        (HOUR_MS, HOURS, "2024-03-05T14:00:00Z", "day=05/hour=14"),
        (DAY_MS, HOURS, "2024-03-05T13:59:59Z", "day=05/hour=00"),
        (6 * HOUR_MS, HOURS, "2024-03-05T13:59:59Z", "day=05/hour=12"),
        (600_000, "HHmm", "2024-03-05T13:59:59Z", "1350"),
        (HOUR_MS, "yyyy", "2024-03-05T13:59:59Z", "2024"),
    ],
)
def test_moments_are_rounded_down(duration_ms: int, pattern: str, moment: str, folder: str) -> None:
    assert folders(by_time(pattern, duration_ms), moment) == [folder]


@pytest.mark.parametrize(
    ("zone", "moment", "folder"),
    [
        ("Asia/Kolkata", "2024-03-05T18:30:00Z", "day=06/hour=00"),
        ("Asia/Kolkata", "2024-03-05T18:29:59Z", "day=05/hour=23"),
        ("America/Los_Angeles", "2024-03-10T09:59:59Z", "day=10/hour=01"),
        ("America/Los_Angeles", "2024-03-10T10:00:00Z", "day=10/hour=03"),
        ("America/Los_Angeles", "2024-11-03T08:30:00Z", "day=03/hour=01"),
        ("America/Los_Angeles", "2024-11-03T09:30:00Z", "day=03/hour=01"),
        ("Asia/Kathmandu", "2024-03-05T18:15:00Z", "day=06/hour=00"),
        ("+02:00", "2024-03-05T22:00:00Z", "day=06/hour=00"),
    ],
)
def test_local_time_counts(zone: str, moment: str, folder: str) -> None:
    assert folders(by_time(zone=zone), moment) == [folder]


def test_each_moment_has_its_folder_whatever_their_order() -> None:
    moments = ["2024-03-05T13:10:00Z", "2024-03-04T02:00:00Z", "2024-03-05T13:50:00Z"]
    assert folders(by_time(), *moments) == ["day=05/hour=13", "day=04/hour=02", "day=05/hour=13"]


def test_moments_that_differ_can_have_the_same_folder() -> None:
    found, codes = by_time("yyyy").folders(np.array([0, HOUR_MS, 400 * DAY_MS], np.int64))
    assert (found, codes.tolist()) == (["1970", "1971"], [0, 0, 1])


def test_moments_before_1970_are_rounded_towards_it_as_java_does() -> None:
    assert folders(by_time(), "1969-12-31T22:30:00Z") == ["day=31/hour=23"]


def test_it_is_pickled_without_what_it_has_computed() -> None:
    partitioner = by_time()
    folders(partitioner, "2024-03-05T13:10:00Z")
    copied = pickle.loads(pickle.dumps(partitioner))  # noqa: S301
    assert folders(copied, "2024-03-05T13:10:00Z") == ["day=05/hour=13"]


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("city=Bern", True),
        ("city=a b/day=1.5", True),
        ("city=", True),
        ("ä/ö", True),
        ("", False),
        ("a//b", False),
        ("a/", False),
        ("../b", False),
        ("a/.b", False),
        ("city=Bern\n", False),
        ("city=a\tb", False),
        ("city=\x7f", False),
    ],
)
def test_what_stores_can_name_is_a_folder(path: str, is_one: bool) -> None:
    assert (re.search(NOT_A_FOLDER, path) is None) == is_one
    assert pc.match_substring_regex(pa.array([path]), NOT_A_FOLDER).to_pylist() == [not is_one]
