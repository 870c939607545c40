"""What killed runs have left: what a run removes, and offsets at which runs must not start."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.left_behind import LeftBehind, start_problems
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout, Part
from airflow_kconnect.places.base import PlacedFile
from airflow_kconnect.places.registry import open_place

P0 = TopicPartition("t", 0)


@pytest.mark.parametrize("delim", ["/", "_"])
@pytest.mark.parametrize(("start", "is_parted"), [(0, False), (5, True), (7, True)])
def test_each_folder_is_looked_at_whatever_is_between_names(delim: str, start: int, is_parted: bool) -> None:
    layout = Layout(directory_delim=delim)
    files = [
        (P0, offset, PlacedFile(layout.file(P0, folder, offset, Part.VALUES, ".json"), 1, 0, "v"))
        for folder, offset in (("city=a", 0), ("city=b", 1), ("city=b", 7))
    ]
    assert bool(start_problems(files, {P0: start}, delim)) == is_parted


@pytest.mark.parametrize("ends", [(100, 200), (75, 200)], ids=["between files", "within a file"])
def test_what_was_left_is_replaced_by_the_round_that_passes_its_first_record(
    tmp_path: Path, ends: tuple[int, int]
) -> None:
    """Whether the round has files or not: a filter may be new, and the file also has offsets of the next round."""
    place, layout = open_place(str(tmp_path), {}), Layout()
    name = layout.file(P0, "partition=0", 50, Part.VALUES, ".json")
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("records 50 to 149")
    left = LeftBehind(place, layout)
    left.discard_staged({P0: 0})
    left.look()
    assert left.passed(SinkSplit("t", 0, 0, 50), 50) == []
    assert [file.name for file in left.passed(SinkSplit("t", 0, 50, ends[0]), ends[0])] == [name]
    assert left.passed(SinkSplit("t", 0, *ends), ends[1]) == []


def test_files_that_appear_after_it_has_looked_are_of_newer_runs(tmp_path: Path) -> None:
    place, layout = open_place(str(tmp_path), {}), Layout()
    left = LeftBehind(place, layout)
    left.discard_staged({P0: 0})
    left.look()
    name = layout.file(P0, "partition=0", 50, Part.VALUES, ".json")
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("of a newer run")
    left.look()
    assert left.passed(SinkSplit("t", 0, 0, 100), 100) == []
