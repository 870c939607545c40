"""Avro: container files of other programs, in all codecs, cut, damaged, and of several schemas."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import fastavro
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.encoders.avro import CODECS, AvroEncoder
from airflow_kconnect.connectors.record_files.formats import avro
from airflow_kconnect.places.base import Output
from tests.unit.connectors.record_files.conftest import Runs

_ID = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}]}
_MARKER = bytes(range(16))


def written(
    schema: Any, rows: Sequence[Any], codec: str = "null", block: int = 16_000, marker: bytes = _MARKER
) -> bytes:
    """The file that fastavro makes."""
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec=codec, sync_interval=block, sync_marker=marker)
    return out.getvalue()


def record(**fields: Any) -> dict[str, Any]:
    """The schema of records with these fields."""
    return {"type": "record", "name": "r", "fields": [{"name": name, "type": type_} for name, type_ in fields.items()]}


def test_values_are_those_of_the_avro_converter(runs: Runs) -> None:
    inner = {"type": "record", "name": "in", "fields": [{"name": "n", "type": ["null", "int"]}]}
    schema = record(
        flag="boolean",
        small="int",
        single="float",
        double="double",
        text="string",
        raw="bytes",
        fixed={"type": "fixed", "name": "f", "size": 3},
        kind={"type": "enum", "name": "e", "symbols": ["A", "B"]},
        tags={"type": "array", "items": "string"},
        counts={"type": "map", "values": "long"},
        inner=inner,
        many={"type": "array", "items": ["null", "in"]},
        either=["null", "string", "long"],
        price={"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
        day={"type": "int", "logicalType": "date"},
        at={"type": "long", "logicalType": "timestamp-millis"},
        micros={"type": "long", "logicalType": "timestamp-micros"},
        uuid={"type": "string", "logicalType": "uuid"},
    )
    when, uuid = datetime(2026, 1, 2, 3, 4, 5, 678000, UTC), UUID(int=7)
    row = {
        "flag": True, "small": -5, "single": 1.5, "double": -2.25, "text": "ä", "raw": b"\x00\xff", "fixed": b"abc",
        "kind": "B", "tags": ["x", ""], "counts": {"a": 2**40}, "inner": {"n": None}, "many": [None, {"n": 3}],
        "either": 7, "price": Decimal("-1.50"), "day": date(2026, 1, 2), "at": when, "micros": when, "uuid": uuid,
    }  # fmt: skip
    runs.put("a.avro", written(schema, [row, row | {"either": "s", "tags": [], "many": []}]))
    expected = row | {
        "counts": [("a", 2**40)],
        "either": {"string": None, "long": 7},
        "micros": int(when.timestamp() * 1000) * 1000,
        "uuid": str(uuid),
    }
    second = expected | {"either": {"string": "s", "long": None}, "tags": [], "many": []}
    assert runs.read() == [expected, second]


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_codecs_of_other_programs_are_read(runs: Runs, codec: str) -> None:
    runs.put("a.avro", written(_ID, [{"id": n} for n in range(5000)], codec))
    assert [row["id"] for row in runs.read()] == list(range(5000))


@pytest.mark.parametrize("compression", CODECS)
def test_what_the_directory_sink_has_written_is_read(runs: Runs, compression: str) -> None:
    runs.put("a.avro", by_our_sink(range(5000), compression))
    assert [row["id"] for row in runs.read()] == list(range(5000))


def by_our_sink(numbers: Sequence[int], compression: str) -> bytes:
    """fastavro needs packages for snappy and zstandard."""
    out = io.BytesIO()
    encoder = AvroEncoder(cast("Output", out), compression)
    encoder.write(pa.StructArray.from_arrays([pa.array(numbers, pa.int64())], ["id"]))
    encoder.finish()
    return out.getvalue()


def test_a_codec_that_is_not_known_is_named(runs: Runs) -> None:
    runs.put("a.avro", written(_ID, [{"id": 1}]).replace(b"\x08null", b"\x08lzo4"))
    with pytest.raises(DataError, match=r"a\.avro cannot be read as avro: its blocks are compressed by 'lzo4'; known"):
        runs.read()


def test_large_files_are_cut_at_markers(runs: Runs) -> None:
    runs.put("a.avro", written(_ID, [{"id": n} for n in range(50_000)], block=2000))
    assert len(runs.plan(runs.connector(**{"split.bytes": "20000"})).splits) > 3
    assert [row["id"] for row in runs.read(split_bytes="20000")] == list(range(50_000))


def test_a_marker_within_a_value_is_no_cut(runs: Runs) -> None:
    rows = [{"raw": _MARKER * 50} for _ in range(500)]
    runs.put("a.avro", written(record(raw="bytes"), rows, block=5000))
    assert len(runs.plan(runs.connector(**{"split.bytes": "30000"})).splits) > 3
    assert runs.read(split_bytes="30000") == rows


def test_a_stopped_run_over_avro_is_continued_at_its_row(runs: Runs) -> None:
    runs.put("a.avro", written(_ID, [{"id": n} for n in range(1000)], block=100))
    assert len(runs.read(most=250)) == 250
    assert [row["id"] for row in runs.read(split_bytes="500")] == list(range(250, 1000))


def test_files_of_several_schemas_are_read_together(runs: Runs) -> None:
    runs.put("a.avro", written(_ID, [{"id": 1}]))
    runs.put("b.avro", written(record(id="long", name=["null", "string"]), [{"id": 2, "name": "x"}, {"id": 3}]))
    assert runs.read() == [{"id": 1}, {"id": 2, "name": "x"}, {"id": 3, "name": None}]


@pytest.mark.parametrize(
    ("root", "rows", "expected"),
    [
        ("string", ["x", ""], ["x", ""]),
        ("bytes", [b"x", b""], [b"x", b""]),
        (["null", _ID], [None, {"id": 1}], [None, {"id": 1}]),
        ({"type": "array", "items": "int"}, [[1, 2], []], [[1, 2], []]),
    ],
)
def test_records_need_not_be_structs(runs: Runs, root: Any, rows: list[Any], expected: list[Any]) -> None:
    runs.put("a.avro", written(root, rows))
    assert runs.read() == expected


def test_a_file_without_records_is_no_error(runs: Runs) -> None:
    runs.put("a.avro", written(_ID, []))
    assert (runs.read(), runs.errors) == ([], [])


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda data: data[:-300], r"it ends within the block at byte \d+, which has \d+ bytes"),
        (lambda data: data[:-16] + bytes(16), r"the block at byte \d+ is damaged: the marker after it is missing"),
        (lambda data: data[:-40] + b"\xff" * 24 + data[-16:], r"the block at byte \d+ is damaged: \d+ records take"),
        (lambda data: data + b"\x02", r"it ends within the block at byte \d+"),
        (lambda data: data + b"\x03\x00" + data[-16:], r"the block at byte \d+ is damaged: it has -2 records in 0 by"),
    ],
)
def test_a_damaged_block_is_named_and_rows_before_it_are_kept(runs: Runs, damage: Any, text: str) -> None:
    runs.put("a.avro", damage(written(_ID, [{"id": n} for n in range(3000)], block=500)))
    with pytest.raises(DataError, match=rf"file .*/a\.avro cannot be read as avro: {text}"):
        runs.read()
    found = runs.read(errors_tolerance="all")
    assert [row["id"] for row in found] == list(range(len(found)))
    assert (len(found) > 2500, len(runs.errors)) == (True, 1)


@pytest.mark.parametrize("compression", sorted(CODECS.keys() - {"none"}))
def test_a_block_that_cannot_be_unpacked_is_damaged(runs: Runs, compression: str) -> None:
    data = by_our_sink(range(3000), compression)
    middle = len(data) // 2
    runs.put("a.avro", data[:middle] + bytes(255 - byte for byte in data[middle : middle + 20]) + data[middle + 20 :])
    with pytest.raises(DataError, match=r"cannot be read as avro: the block at byte \d+ is damaged: "):
        runs.read()


@pytest.mark.parametrize("content", [b"", b"no", b"Obj\x01", written(_ID, [])[:-8]])
def test_what_is_no_avro_is_an_error_that_names_it(runs: Runs, content: bytes) -> None:
    runs.put("a.avro", content)
    with pytest.raises(DataError, match=r"file .*/a\.avro cannot be read as avro: it "):
        runs.read()


def test_a_value_that_connect_cannot_hold_is_a_bad_row(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro, "_BYTES", 1000)
    schema = record(id="int", price={"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 0})
    rows = [{"id": n, "price": Decimal(10**50 if n == 700 else n)} for n in range(1000)]
    runs.put("a.avro", written(schema, rows, block=500))
    assert [row["id"] for row in runs.read()] == [n for n in range(1000) if n != 700]
    assert runs.errors == [f"{runs.folder}/a.avro, row 701: Field price: Decimal has more than 38 digits"]


def test_a_schema_that_connect_does_not_have_is_named_with_its_file(runs: Runs) -> None:
    runs.put("a.avro", written(record(next=["null", "r"]), [{"next": None}]))
    with pytest.raises(DataError, match=r"file .*/a\.avro: Field next of the Avro schema: type r contains itself"):
        runs.read()


def test_members_of_unions_may_have_full_names(runs: Runs) -> None:
    names = [{"type": "fixed", "name": f"{space}.f", "size": 1} for space in ("a", "b")]
    runs.put("a.avro", written(record(either=names), [{"either": ("b.f", b"x")}]))
    with pytest.raises(DataError, match=r"set `enhanced.avro.schema.support` to true"):
        runs.read()
    assert runs.read(enhanced_avro_schema_support="true") == [{"either": {"a.f": None, "b.f": b"x"}}]


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=5), st.integers(0, 2000))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_wrong_with_a_file_it_is_named(runs: Runs, changes: list[tuple[int, int]], cut: int) -> None:
    schema = record(a=["null", "string"], b={"type": "array", "items": "long"}, c={"type": "map", "values": "bytes"})
    rows = [{"a": None if n % 3 else str(n), "b": [n] * (n % 4), "c": {"x": b"y" * n}} for n in range(40)]
    data = bytearray(written(schema, rows, block=300))
    for place, byte in changes:
        data[place % len(data)] = byte
    runs.offsets.clear()
    runs.put("a.avro", bytes(data[: len(data) - cut % 100 if cut % 2 else None]))
    try:
        runs.read(split_bytes="400", errors_tolerance="all")
    except DataError as error:
        assert "a.avro" in str(error)
