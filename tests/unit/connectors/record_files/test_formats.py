"""JSON lines, Parquet, ORC and text."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from airflow_kconnect.connect.errors import DataError
from tests.unit.connectors.record_files.conftest import Runs

_TABLE = pa.table(
    {
        "id": pa.array([1, 2], pa.uint32()),
        "big": pa.array([2**64 - 1, None], pa.uint64()),
        "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "at": pa.array([datetime(2026, 1, 2, 3, 4, 5, 678901), None], pa.timestamp("us")),
        "day": pa.array([date(2026, 1, 2), None]),
        "time": pa.array([time(1, 2, 3, 4000), None], pa.time64("us")),
        "tags": pa.array([["a", "b"], None]),
        "who": pa.array([{"name": "x", "n": 1}, None]),
        "kind": pa.array(["x", "y"]).dictionary_encode(),
        "bytes": pa.array([b"\x00", None], pa.large_binary()),
    }
)
_ROWS: list[dict[str, Any]] = [
    {
        "id": 1, "big": Decimal(2**64 - 1), "price": Decimal("1.50"),
        "at": datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), "day": date(2026, 1, 2), "time": 3_723_004,
        "tags": ["a", "b"], "who": {"name": "x", "n": 1}, "kind": "x", "bytes": b"\x00",
    },
    {
        "id": 2, "big": None, "price": None, "at": None, "day": None, "time": None, "tags": None, "who": None,
        "kind": "y", "bytes": None,
    },
]  # fmt: skip


def test_parquet_has_the_types_of_its_columns(runs: Runs) -> None:
    pq.write_table(_TABLE, runs.folder / "a.parquet")
    assert runs.read() == _ROWS


def test_times_in_arrays_have_milliseconds_as_others(runs: Runs) -> None:
    times = [[time(0, 0, 1), None], None, [], [time(0, 0, 2)]]
    rows = [None if each is None else [{"t": at} for at in each] for each in times]
    columns = {
        "times": pa.array(times, pa.list_(pa.time64("us"))),
        "fixed": pa.array([None if each is None else [time(0, 0, 3)] for each in times], pa.list_(pa.time64("us"), 1)),
        "large": pa.array(times, pa.large_list(pa.time64("ns"))),
        "rows": pa.array(rows, pa.list_(pa.struct([("t", pa.time64("us"))]))),
    }
    pq.write_table(pa.table(columns), runs.folder / "a.parquet")
    expected = [[1000, None], None, [], [2000]]
    found = runs.read()
    assert [row["times"] for row in found] == [row["large"] for row in found] == expected
    assert [row["fixed"] for row in found] == [[3000], None, [3000], [3000]]
    assert [row["rows"] for row in found] == [None if each is None else [{"t": at} for at in each] for each in expected]


def test_large_parquet_files_are_cut_between_row_groups(runs: Runs) -> None:
    pq.write_table(pa.table({"id": range(1000)}), runs.folder / "a.parquet", row_group_size=100)
    assert len(runs.plan(runs.connector(**{"split.bytes": "2000"})).splits) > 2
    assert [row["id"] for row in runs.read(split_bytes="2000")] == list(range(1000))


def test_a_stopped_run_over_parquet_is_continued_at_its_row(runs: Runs) -> None:
    pq.write_table(pa.table({"id": range(1000)}), runs.folder / "a.parquet", row_group_size=100)
    assert len(runs.read(most=250)) == 250
    assert [row["id"] for row in runs.read(split_bytes="2000")] == list(range(250, 1000))


def test_what_is_no_parquet_is_an_error_that_names_it(runs: Runs) -> None:
    runs.put("a.parquet", "no")
    with pytest.raises(DataError, match=r"file .*/a\.parquet cannot be read as parquet: "):
        runs.read()


def test_what_is_no_parquet_is_skipped_and_counted_with_tolerance(runs: Runs) -> None:
    runs.put("a.parquet", "no")
    pq.write_table(pa.table({"id": [1]}), runs.folder / "b.parquet")
    assert runs.read(errors_tolerance="all") == [{"id": 1}]
    assert len(runs.errors) == 1
    assert runs.read(errors_tolerance="all") == []


def test_orc_has_the_types_of_its_columns(runs: Runs) -> None:
    columns = ["price", "at", "day", "tags", "who"]
    orc.write_table(_TABLE.select(columns), runs.folder / "a.orc")
    assert runs.read() == [{name: row[name] for name in columns} for row in _ROWS]


def test_types_that_connect_does_not_have_are_named(runs: Runs) -> None:
    pq.write_table(pa.table({"d": pa.array([1], pa.duration("s"))}), runs.folder / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: `d` is of type duration\[s\], which Connect has not"):
        runs.read()


def test_json_members_have_the_types_of_a_sample(runs: Runs) -> None:
    runs.put("a.jsonl", '{"a":1,"b":{"c":[1.5]},"t":"2026-01-02T03:04:05"}\n\n{"a":2}')
    assert runs.read() == [
        {"a": 1, "b": {"c": [1.5]}, "t": "2026-01-02T03:04:05"},
        {"a": 2, "b": None, "t": None},
    ]


def test_json_members_have_the_types_that_are_given(runs: Runs) -> None:
    runs.put("a.json", '{"p":"2.50","t":"2026-01-02T03:04:05Z","d":"2026-01-02"}\n')
    assert runs.read(schema_types="p:decimal(2),t:timestamp,d:date") == [
        {"p": Decimal("2.50"), "t": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "d": date(2026, 1, 2)}
    ]


@pytest.mark.parametrize(
    "line", ['{"a":', "[1]", '{"a":1}{"a":2}', '{"a":"x"}', '{"a":1,"other":2}', "nothing", '{"a":{}', "}"]
)
def test_a_bad_line_of_json_is_named_and_alone(runs: Runs, line: str) -> None:
    runs.put("a.json", "".join(f'{{"a":{n}}}\n' for n in range(300)))
    runs.read()
    lines = [f'{{"a":{n}}}' for n in range(100)]
    runs.put("b.json", "\n".join([*lines[:50], line, *lines[50:]]))
    if "other" in line:  # or the sample would have it
        runs.put("b.json", "\n".join([*lines, *['{"a":1000000000000}'] * 60_000, line]))
    assert [row["a"] for row in runs.read()][:100] == list(range(100))
    assert len(runs.errors) == 1
    assert f"{runs.folder}/b.json, row " in runs.errors[0]


@pytest.mark.parametrize("inference", ["sample", "none"])
def test_a_line_of_json_that_is_not_in_utf_8_is_bad(runs: Runs, inference: str) -> None:
    runs.put("a.json", b'{"a":"x"}\n{"a":"\xe9"}\n{"a":"y"}\n')
    assert len(runs.read(schema_inference=inference)) == 2
    assert "a.json, row 2: is not in UTF-8 (see `file.charset`): " in runs.errors[0]


def test_json_without_schema_stays_as_it_is(runs: Runs) -> None:
    runs.put("a.json", '{"a":1}\n{"a":"x","b":null}\n{"a":\n')
    assert runs.read(schema_inference="none") == ['{"a":1}', '{"a":"x","b":null}']
    assert "row 3: is not a JSON object" in runs.errors[0]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a":1,"a":2}', "has the member 'a' twice in an object"),
        ('{"a":[{"b": {"c":1,"c" :1}}]}', "has the member 'c' twice in an object"),
        ('{"a":1e400}', "has a number that is too large for a double"),
        ('{"a":-1E+999}', "has a number that is too large for a double"),
        (f'{{"a":{"9" * 39}}}', "has a number with more than 38 digits"),
        (f'{{"a":0.{"9" * 39}}}', "has a number with more than 38 digits"),
        ('{"a":["\\ud800"]}', "has half of a character"),
        (f'{{"a":{"[" * 250}{"]" * 250}}}', "nests more than 200 levels"),
        (f'{{"a":{"[" * 100_000}{"]" * 100_000}}}', "nests more than 200 levels"),
    ],
)
def test_what_would_change_on_its_way_without_schema_is_a_bad_row(runs: Runs, line: str, problem: str) -> None:
    runs.put("a.json", f'{{"a":1}}\n{line}\n{{"a":2}}\n')
    assert runs.read(schema_inference="none") == ['{"a":1}', '{"a":2}']
    assert f"row 2: {problem}" in runs.errors[0]


@pytest.mark.parametrize(
    "line",
    [
        f'{{"a":{"9" * 38}}}',
        f'{{"a":"{"9" * 50} 1e400 NaN"}}',
        '{"a":1e300,"b":{"a":1}}',
        '{"a":"\\ud83d\\ude00","":[[],{}]}',
        f'{{"a":"{"[" * 300}","b":[{",".join(["[]"] * 300)}]}}',
        ' {"a" : 1}',
    ],
)
def test_what_arrives_as_it_is_without_schema_is_a_record(runs: Runs, line: str) -> None:
    runs.put("a.json", line)
    assert (runs.read(schema_inference="none"), runs.errors) == ([line], [])


def test_several_objects_in_a_line_are_a_bad_row_without_schema_too(runs: Runs) -> None:
    runs.put("a.json", '{"a":1}\n{"a":2}{"a":3}\n{}\n')
    assert runs.read(schema_inference="none") == ['{"a":1}', "{}"]
    assert "row 2: is not a JSON object" in runs.errors[0]


@pytest.mark.parametrize("inference", ["sample", "none"])
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "Inf"])
def test_what_json_has_no_number_for_makes_a_bad_row(runs: Runs, inference: str, number: str) -> None:
    lines = ['{"a":1.5,"b":"x"}', f'{{"a":{number}}}', '{"a":2.5,"b":"y: NaN, or Inf]"}']
    runs.put("a.json", "\n".join(lines))
    assert len(runs.read(schema_inference=inference)) == 2
    assert "row 2: is not a JSON object" in runs.errors[0]


@pytest.mark.parametrize("between", ["", "nothing"])
def test_texts_of_which_some_look_like_times_are_of_one_type(runs: Runs, between: str) -> None:
    lines = ['{"a":"2026-01-02 03:04:05","b":[{"c":"2026-01-02"}]}', between, '{"a":"x","b":[{"c":"y"}]}']
    runs.put("a.json", "\n".join(lines))
    assert [row["a"] for row in runs.read()] == ["2026-01-02 03:04:05", "x"]


def test_json_integers_beyond_64_bits_are_decimals(runs: Runs) -> None:
    large = 2**64 + 1
    runs.put("a.json", f'{{"a":{large},"b":[{{"c":[1,-{large}]}}],"d":1.5}}\n{{"a":null,"d":{large}}}\n{{"a":2}}\n')
    found = runs.read()
    assert [row["a"] for row in found] == [Decimal(large), None, Decimal(2)]
    assert found[0]["b"] == [{"c": [Decimal(1), Decimal(-large)]}]
    assert [row["d"] for row in found] == [1.5, float(large), None]
    runs.put("b.json", f'{{"a":{large + 1}}}\n')
    assert runs.read()[0]["a"] == Decimal(large + 1)


@pytest.mark.parametrize("content", ['[{"a":1},\n{"a":2}]', "{}\n{}\n", "nothing", " \n"])
def test_a_file_of_json_without_an_object_with_members_is_not_taken_for_an_empty_one(runs: Runs, content: str) -> None:
    runs.put("a.json", content)
    with pytest.raises(DataError, match=r"a\.json has no line that is a JSON object with members"):
        runs.read()
    assert runs.read(errors_tolerance="all") == []
    assert len(runs.errors) == 1


def test_json_may_begin_with_many_empty_lines(runs: Runs) -> None:
    runs.put("a.json", "\n" * 3_000_000 + '{"a":1}\n')
    assert runs.read() == [{"a": 1}]


def test_members_of_several_types_are_an_error_that_says_what_to_do(runs: Runs) -> None:
    runs.put("a.json", '{"a":1}\n{"a":"x"}\n')
    with pytest.raises(DataError, match=r"values of several types .*: give their types in `schema.types`"):
        runs.read()


def test_text_has_a_record_for_each_line(runs: Runs) -> None:
    runs.put("a.txt", "x\r\n\ny")
    assert runs.read() == ["x", "", "y"]
