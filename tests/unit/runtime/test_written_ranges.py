"""runtime/written_ranges.py"""

from __future__ import annotations

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runtime.written_ranges import by_topic, entries, merged

RANGES = {"a-0": [5, 7], "with-dash-12": [0, 1]}
ENTRIES = [
    {"topic": "a", "partition": 0, "start": 5, "end": 7},
    {"topic": "with-dash", "partition": 12, "start": 0, "end": 1},
]


def test_ranges_of_splits_are_merged() -> None:
    assert merged([RANGES, {}, {"a-0": (3, 6)}, {"a-1": (2, 4)}]) == {**RANGES, "a-0": [3, 7], "a-1": [2, 4]}


def test_a_report_names_topic_and_partition() -> None:
    assert entries(RANGES) == ENTRIES


def test_reports_of_several_sources_are_merged_by_topic() -> None:
    more = {"topic": "a", "partition": 0, "start": 9, "end": 12}
    assert by_topic([*ENTRIES, more]) == {
        "a": {TopicPartition("a", 0): (5, 12)},
        "with-dash": {TopicPartition("with-dash", 12): (0, 1)},
    }
