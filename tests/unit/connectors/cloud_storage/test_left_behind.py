"""Offsets at which runs must not start: files that may have records on both sides."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.left_behind import start_problems
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout, Part
from airflow_kconnect.places.base import PlacedFile

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
