"""What the files of a topic say about its fields."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.directory.layout import FolderLayout
from airflow_kconnect.connectors.directory.tables import FolderTables
from airflow_kconnect.places.address import address
from airflow_kconnect.places.local import LocalPlace


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b'{"a":1}\n' * 1000))
    data[20:] = b"\xff" * (len(data) - 20)
    folder = tmp_path / "t" / "partition=0"
    folder.mkdir(parents=True)
    (folder / "t+0+0000000000.json.gz").write_bytes(data)
    layout = FolderLayout(LocalPlace(address(str(tmp_path))), "json.gz")
    with pytest.raises(DataError, match=r"t\+0\+0000000000\.json\.gz is not a file with lines that can be read"):
        FolderTables("orders", "fail").look(layout, [TopicPartition("t", 0)])
