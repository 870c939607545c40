"""CSV: types, dialects, and what is wrong with a row."""

from __future__ import annotations

import bz2
import gzip
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from tests.unit.connectors.record_files.conftest import Runs


def test_types_are_those_that_a_sample_suggests(runs: Runs) -> None:
    runs.put("a.csv", "id,price,at,day,ok,name\n1,2.5,2026-01-02T03:04:05Z,2026-01-02,true,x\n")
    assert runs.read() == [
        {
            "id": 1,
            "price": 2.5,
            "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "day": date(2026, 1, 2),
            "ok": True,
            "name": "x",
        }
    ]


@pytest.mark.parametrize(
    "text",
    [
        "007", "+49301234567", "-0", "0x10", "00", "-007", "9223372036854775808", "-12345678901234567890", "1E400",
        "1e-400", "0.1234567890123456789", "12345678901234567.5", "NaN", "inf", "2026-01-02T03:04:05.123456",
    ],
)  # fmt: skip
def test_what_another_type_would_change_is_a_string(runs: Runs, text: str) -> None:
    runs.put("a.csv", f"a,b\n1,x\n{text},y\n" if text[:2] not in ("Na", "in", "20") else f"a,b\n{text},y\n")
    assert [row["a"] for row in runs.read()][-1] == text


@pytest.mark.parametrize(("texts", "values"), [("true,1,0", ["true", "1", "0"]), ("True,FALSE", [True, False])])
def test_zero_and_one_are_no_truth_values(runs: Runs, texts: str, values: list[object]) -> None:
    runs.put("a.csv", "a\n" + texts.replace(",", "\n"))
    assert [row["a"] for row in runs.read()] == values


@given(
    st.lists(
        st.integers().map(str)
        | st.floats(allow_nan=False, allow_infinity=False).map(repr)
        | st.from_regex(r"[-+]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?", fullmatch=True),
        min_size=1,
        max_size=5,
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_that_are_found_in_a_sample_keep_their_values(runs: Runs, texts: list[str]) -> None:
    runs.offsets.clear()
    runs.facts.clear()
    runs.put("a.csv", "a,b\n" + "".join(f"{text},x\n" for text in texts))
    read = [row["a"] for row in runs.read()]
    assert runs.errors == []
    for text, value in zip(texts, read, strict=True):
        assert value == text or (value is None and not text) or Decimal(repr(value)) == Decimal(text)


def test_types_that_are_given_come_before_the_sample(runs: Runs) -> None:
    runs.put("a.csv", "id,price\n1,2.50\n")
    assert runs.read(schema_types="id:string,price:decimal(2)") == [{"id": "1", "price": Decimal("2.50")}]


def test_a_later_file_has_the_types_of_the_first_one(runs: Runs) -> None:
    runs.put("a.csv", "id,n\n1,1\n")
    runs.read()
    runs.put("b.csv", "n,x\n2.5,1\n3,2\n")
    assert runs.read() == [{"n": 3, "x": 2}]
    assert runs.errors == [f"{runs.folder}/b.csv, row 1: `n` is '2.5', expected int64"]


def test_rows_with_too_few_or_many_values_are_bad_and_named(runs: Runs) -> None:
    runs.put("a.csv", "a,b\n1,x\n2\n3,y\n4,z,5\n")
    assert runs.read() == [{"a": 1, "b": "x"}, {"a": 3, "b": "y"}]
    assert runs.errors == [
        f"{runs.folder}/a.csv, row 2: has 1 values, expected 2: '2'",
        f"{runs.folder}/a.csv, row 4: has 3 values, expected 2: '4,z,5'",
    ]


def test_a_header_after_empty_lines_is_no_row(runs: Runs) -> None:
    runs.put("a.csv", "\n\r\na,b\nx,y\n\nz\n")
    assert runs.read() == [{"a": "x", "b": "y"}]
    assert runs.errors == [f"{runs.folder}/a.csv, row 2: has 1 values, expected 2: 'z'"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("1,x", [{"column01": 1, "column02": "x"}]),
        ("\ufeff1,x", [{"column01": 1, "column02": "x"}]),
        ("\n\n1,x", [{"column01": 1, "column02": "x"}]),
        ("\ufeff\r\n\n", []),
    ],
)
def test_the_only_row_need_not_be_ended(runs: Runs, text: str, rows: list[object]) -> None:
    runs.put("a.csv", text)
    assert runs.read(csv_first_row_as_header="false") == rows


def test_two_columns_of_a_name_are_an_error_that_names_them(runs: Runs) -> None:
    runs.put("a.csv", "a,b,a\n1,2,3\n")
    with pytest.raises(DataError, match=r"a\.csv has two columns `a`: rename one of them"):
        runs.read(errors_tolerance="all")


def test_a_header_without_rows_says_nothing_about_types(runs: Runs) -> None:
    runs.put("a.csv", "id,n\n")
    assert runs.read() == []
    runs.put("b.csv", "id,n\n1,2.5\n")
    assert runs.read() == [{"id": 1, "n": 2.5}]


def test_bad_rows_of_many_blocks_keep_their_places(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow_kconnect.connectors.record_files.formats.csv._BLOCK", 1000)
    lines = [f"{n},{'x' * (n % 30)}" if n % 7 else f"bad{n}" for n in range(1, 2001)]
    runs.put("a.csv", "a,b\n" + "\n".join(lines))
    assert [row["a"] for row in runs.read()] == [n for n in range(1, 2001) if n % 7]
    assert [int(text.split("row ")[1].split(":")[0]) for text in runs.errors] == list(range(7, 2001, 7))


@pytest.mark.parametrize(
    ("content", "keys", "expected"),
    [
        ('a,b\n1,"x\ny"\n', {}, [{"a": 1, "b": "x\ny"}]),
        ('a,b\n1,"say ""x"""\n', {}, [{"a": 1, "b": 'say "x"'}]),
        ("a;b\n1;x\n", {"csv_separator_char": ";"}, [{"a": 1, "b": "x"}]),
        ("a\tb\n1\tx\n", {"csv_separator_char": "9"}, [{"a": 1, "b": "x"}]),
        ("a,b\n1,'x,y'\n", {"csv_quote_char": "'"}, [{"a": 1, "b": "x,y"}]),
        ('a,b\n1,"x\n', {"csv_quote_char": ""}, [{"a": 1, "b": '"x'}]),
        ("a,b\n1,x\\,y\n", {"csv_escape_char": "\\"}, [{"a": 1, "b": "x,y"}]),
        ("1,x\n", {"csv_first_row_as_header": "false"}, [{"column01": 1, "column02": "x"}]),
        ('a,b\n,""\n', {"schema_types": "a:int64,b:string"}, [{"a": None, "b": ""}]),
        ('a,b\n"",x\n', {"schema_types": "a:int64"}, [{"a": None, "b": "x"}]),
        ("a,b\nNULL,\n", {"csv_null_value": "NULL", "schema_types": "a:int64"}, [{"a": None, "b": ""}]),
        ("a\r\n1\r\n\r\n2\r\n", {}, [{"a": 1}, {"a": 2}]),
        ("\ufeffa\n1\n", {}, [{"a": 1}]),
        ("a\n1", {}, [{"a": 1}]),
        ("a\n", {}, []),
        ("", {}, []),
        ("a,b\n1,2.5\n", {"schema_inference": "strings"}, [{"a": "1", "b": "2.5"}]),
    ],
)
def test_dialects(runs: Runs, content: str, keys: dict[str, Any], expected: list[object]) -> None:
    runs.put("a.csv", content)
    assert (runs.read(**keys), runs.errors) == (expected, [])


@pytest.mark.parametrize(
    ("first", "later", "kept"),
    [
        ("1", ["007", "-0", " 08"], ["0", "7", "-5", " 5"]),
        ("1.5", ["007.5", "0.1234567890123456789", "1e-400"], ["0.5", "-0.5", "0", "1.10", "NaN", "1e3"]),
        ("1.5", ["1e400"], ["1e300"]),
        ("1.5", ["1e-400"], ["0.0"]),
        ("true", ["0", "1"], ["FALSE"]),
        ("2026-11-26T12:00:00", ["2026-11-26T12:00:00.123456"], ["2026-11-26T12:00:00.123"]),
    ],
)
def test_what_would_lose_something_in_a_type_that_an_earlier_sample_has_suggested_is_a_bad_row(
    runs: Runs, first: str, later: list[str], kept: list[str]
) -> None:
    runs.put("a.csv", f"a\n{first}\n")
    runs.put("b.csv", "a\n" + "".join(f"{text}\n" for text in [*later, *kept]))
    assert len(runs.read()) == 1 + len(kept)
    assert len(runs.errors) == len(later)
    assert f"row 1: `a` is '{later[0]}', which would lose something as " in runs.errors[0]
    assert "give the column a type (`schema.types`)" in runs.errors[0]


def test_a_type_that_is_given_is_taken_as_it_is(runs: Runs) -> None:
    runs.put("a.csv", "a,b\n007,007\n")
    assert runs.read(schema_types="a:int64,b:string") == [{"a": 7, "b": "007"}]


def test_tsv_has_tabs(runs: Runs) -> None:
    runs.put("a.tsv", "a\tb\n1\tx,y\n")
    assert runs.read() == [{"a": 1, "b": "x,y"}]


def test_other_encodings(runs: Runs) -> None:
    runs.put("a.csv", "ä\nö\n".encode("latin-1"))
    assert runs.read(file_charset="ISO-8859-1") == [{"ä": "ö"}]


def test_what_is_not_in_the_encoding_is_a_bad_row(runs: Runs) -> None:
    runs.put("a.csv", b"a\nx\n" + "ö\n".encode("latin-1") + b"y\n")
    assert runs.read(schema_types="a:string") == [{"a": "x"}, {"a": "y"}]
    assert "row 2: `a` is '\ufffd', expected UTF-8 (see `file.charset`)" in runs.errors[0]


@pytest.mark.parametrize(
    ("extension", "compress"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("zst", lambda data: pa.compress(data, "zstd", asbytes=True)),
    ],
)
def test_compressed_files(runs: Runs, extension: str, compress: object) -> None:
    data = "a\n" + "1\n" * 3
    if extension == "zst":
        with pa.CompressedOutputStream(str(runs.folder / "a.csv.zst"), "zstd") as out:
            out.write(data.encode())
    else:
        runs.put(f"a.csv.{extension}", compress(data.encode()))  # type: ignore[operator]
    assert runs.read() == [{"a": 1}] * 3


def test_a_truncated_file_is_an_error_that_names_it(runs: Runs) -> None:
    runs.put("a.csv.gz", gzip.compress(b"a\n" + b"1\n" * 100_000)[:-30])
    with pytest.raises(DataError, match=r"file .*/a\.csv\.gz cannot be read as csv: Truncated compressed stream"):
        runs.read()


def test_a_truncated_file_is_skipped_and_counted_with_tolerance(runs: Runs) -> None:
    runs.put("a.csv.gz", gzip.compress(b"a\n" + b"1\n" * 100_000)[:-30])
    runs.put("b.csv", "a\n7\n")
    assert runs.read(errors_tolerance="all")[-1] == {"a": 7}
    assert [text for text in runs.errors if "Truncated" in text]
    assert runs.read(errors_tolerance="all") == []


def test_large_files_without_line_ends_in_quotes_are_cut(runs: Runs) -> None:
    runs.put("a.csv", "id\n" + "".join(f"{n}\n" for n in range(10_000)))
    keys = {"csv.multiline": "false", "split.bytes": "5000"}
    assert len(runs.plan(runs.connector(**keys)).splits) > 5
    assert [row["id"] for row in runs.read(csv_multiline="false", split_bytes="5000")] == list(range(10_000))


@pytest.mark.parametrize("rest", ['"x\n4,y\n5,z\n', '"x\n4,y', '"x', '"x\n'])
def test_a_quote_that_is_not_closed_makes_a_bad_row_that_names_it(runs: Runs, rest: str) -> None:
    runs.put("a.csv", f"a,b\n1,x\n2,\n3,{rest}")
    assert runs.read() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert runs.errors == [f"{runs.folder}/a.csv, row 3: `b` begins with a quote that is not closed: {rest[1:]!r}"]


def test_a_quote_that_is_not_closed_before_the_last_column_is_asked_for(runs: Runs) -> None:
    runs.put("a.csv", 'a,b\n1,x\n"2,y\n3,z\n')
    assert runs.read() == [{"a": 1, "b": "x"}]
    assert "row 2: has 1 values, expected 2, and line ends within quotes: is one not closed?: " in runs.errors[0]


@pytest.mark.parametrize(
    "last", ['"x\ny"', '"x\ny"\n', '"x\ny" \r\n', '"x"', '""', '"say ""x"""\n', '"\nsay ""x"""\n', "x"]
)
def test_quotes_that_are_closed_at_the_end_are_no_error(runs: Runs, last: str) -> None:
    runs.put("a.csv", f"a,b\n1,{last}")
    assert (len(runs.read()), runs.errors) == (1, [])


def test_a_quote_that_is_not_closed_in_a_large_file_is_named(runs: Runs) -> None:
    runs.put("a.csv", 'a,b\n1,x\n2,"x\n' + "3,y\n" * 5_000_000)
    with pytest.raises(
        DataError, match=r"has a row of more than 4 MiB after row 1: a quote that is opened there may not"
    ):
        runs.read()
