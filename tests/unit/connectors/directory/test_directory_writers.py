"""The directory sink's writers, given Arrow batches as Spark would give them."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.directory.encoders import parquet
from airflow_kconnect.connectors.directory.json_text import quoted
from airflow_kconnect.connectors.directory.layout import FolderLayout
from airflow_kconnect.connectors.directory.writers import DirectoryWriter
from airflow_kconnect.places.address import address
from airflow_kconnect.places.local import LocalPlace

SPLIT = SinkSplit("t", 3, 10, 100)


def json_writer(folder: Path, flush_size: int = 1000, compression: str = "none") -> DirectoryWriter:
    layout = FolderLayout(LocalPlace(address(str(folder))), "json.gz" if compression == "gzip" else "json")
    writer = DirectoryWriter(layout, format="json", compression=compression, flush_size=flush_size)
    # The driver makes it, an executor uses it.
    copy: DirectoryWriter = pickle.loads(pickle.dumps(writer))  # noqa: S301
    return copy


def lines(first: int, count: int) -> pa.RecordBatch:
    offsets = list(range(first, first + count))
    texts = [f'"ü{offset}"\n'.encode() for offset in offsets]
    return pa.record_batch({"line": pa.array(texts), "kafka_offset": offsets, "error": pa.nulls(count, pa.string())})


def rows(first: int, count: int) -> pa.RecordBatch:
    offsets = list(range(first, first + count))
    members = pa.array([{"a": offset, "b": {"c": str(offset)}} for offset in offsets])
    return pa.record_batch({"row": members, "kafka_offset": offsets, "error": pa.nulls(count, pa.string())})


def names(facts: dict[str, Any]) -> list[tuple[str, int]]:
    return [(Path(file["name"]).name, file["records"]) for file in facts["files"]]


def hidden(folder: Path, file: dict[str, Any]) -> Path:
    return Path(folder, file["facts"]["hidden"])


def test_nothing_is_left_of_a_file_that_waited_for_one_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RetriableError("the store is overloaded")

    monkeypatch.setattr("airflow_kconnect.places.local._LocalStaging.finish", fail)
    writer = json_writer(tmp_path, flush_size=1)
    writer.open(SPLIT)
    with pytest.raises(RetriableError):
        writer.write(lines(10, 20))
    writer.abort()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class TestJson:
    def test_one_file_is_named_by_its_first_record(self, tmp_path: Path) -> None:
        writer = json_writer(tmp_path)
        writer.open(SPLIT)
        writer.write(lines(12, 3))
        writer.write(lines(15, 1))
        facts = writer.close(100)
        assert facts["end"] == 100
        assert names(facts) == [("t+3+0000000012.json", 4)]
        temp = hidden(tmp_path, facts["files"][0])
        assert temp.parent == tmp_path / "t" / "partition=3"
        assert temp.name.startswith(".t+3+0000000012.json.")
        assert temp.read_text() == '"ü12"\n"ü13"\n"ü14"\n"ü15"\n'

    @pytest.mark.parametrize("batch", [1, 2, 3, 5, 7, 10])
    def test_files_are_cut_at_the_flush_size_whatever_the_batches(self, tmp_path: Path, batch: int) -> None:
        writer = json_writer(tmp_path, flush_size=3)
        writer.open(SPLIT)
        for first in range(10, 17, batch):
            writer.write(lines(10, 7).slice(first - 10, batch))
        facts = writer.close(100)
        expected = [("t+3+0000000010.json", 3), ("t+3+0000000013.json", 3), ("t+3+0000000016.json", 1)]
        assert names(facts) == expected
        texts = [hidden(tmp_path, file).read_text() for file in facts["files"]]
        assert texts[1:] == ['"ü13"\n"ü14"\n"ü15"\n', '"ü16"\n']

    def test_a_split_without_rows_has_no_file(self, tmp_path: Path) -> None:
        writer = json_writer(tmp_path)
        writer.open(SPLIT)
        assert writer.close(50) == {"end": 50, "files": []}

    def test_a_full_last_file_is_not_followed_by_an_empty_one(self, tmp_path: Path) -> None:
        writer = json_writer(tmp_path, flush_size=2)
        writer.open(SPLIT)
        writer.write(lines(10, 4))
        assert [records for _, records in names(writer.close(100))] == [2, 2]

    def test_the_same_rows_give_the_same_compressed_bytes(self, tmp_path: Path) -> None:
        written = []
        for _ in range(2):
            writer = json_writer(tmp_path, compression="gzip")
            writer.open(SPLIT)
            writer.write(lines(10, 100))
            (file,) = writer.close(100)["files"]
            assert file["name"].endswith("/t+3+0000000010.json.gz")
            written.append(hidden(tmp_path, file).read_bytes())
        assert written[0] == written[1]
        assert gzip.decompress(written[0]).count(b"\n") == 100


class TestParquet:
    def written(self, folder: Path, *batches: pa.RecordBatch) -> pq.ParquetFile:
        writer = DirectoryWriter(
            FolderLayout(LocalPlace(address(str(folder))), "parquet"),
            format="parquet",
            compression="zstd",
            flush_size=500,
        )
        writer.open(SPLIT)
        for batch in batches:
            writer.write(batch)
        (file,) = writer.close(100)["files"]
        return pq.ParquetFile(hidden(folder, file))

    def test_members_are_columns(self, tmp_path: Path) -> None:
        table = self.written(tmp_path, rows(10, 5).slice(2, 2), rows(15, 1)).read()
        assert table.to_pylist() == [{"a": n, "b": {"c": str(n)}} for n in (12, 13, 15)]

    def test_batches_are_gathered_into_row_groups(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        batches = [rows(first, 10) for first in range(10, 60, 10)]
        assert self.written(tmp_path, *batches).metadata.num_row_groups == 1
        size = pa.RecordBatch.from_struct_array(batches[0].column("row")).nbytes
        monkeypatch.setattr(parquet, "_ROW_GROUP_BYTES", 2 * size)
        assert self.written(tmp_path, *batches).metadata.num_row_groups == 3

    def test_is_compressed_as_asked(self, tmp_path: Path) -> None:
        assert self.written(tmp_path, rows(10, 5)).metadata.row_group(0).column(0).compression == "ZSTD"


class TestErrors:
    def test_abort_leaves_nothing(self, tmp_path: Path) -> None:
        writer = json_writer(tmp_path, flush_size=2)
        writer.open(SPLIT)
        writer.write(lines(10, 5))
        writer.abort()
        assert list((tmp_path / "t" / "partition=3").iterdir()) == []

    def test_a_full_disk_can_be_tried_again(self, tmp_path: Path) -> None:
        writer = json_writer(tmp_path)
        writer.open(SPLIT)
        writer.write(lines(10, 1))
        staging: Any = writer._staging
        staging._file.close()
        staging._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115
        with pytest.raises(RetriableError, match=r"cannot write .*t\+3\+0000000010\.json.*: No space left on device"):
            writer.write(lines(11, 1))
        writer.abort()
        assert list((tmp_path / "t" / "partition=3").iterdir()) == []

    def test_a_file_in_the_way_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "t").write_text("")
        writer = json_writer(tmp_path)
        writer.open(SPLIT)
        with pytest.raises(DataError, match=r"cannot write .*/t/partition=3"):
            writer.write(lines(10, 1))


@given(st.lists(st.none() | st.text(alphabet='a"\\\n\x1f é😀', max_size=6), max_size=8))
def test_lines_of_strings_are_their_json(texts: list[str | None]) -> None:
    lines = b"".join(quoted(pa.array(texts, pa.string())).cast(pa.binary()).to_pylist())
    assert [json.loads(line) for line in lines.splitlines()] == texts


def test_control_characters_are_escaped_as_jackson_does() -> None:
    assert quoted(pa.array(["\x1f\b"])).to_pylist() == ['"\\u001F\\b"\n']
