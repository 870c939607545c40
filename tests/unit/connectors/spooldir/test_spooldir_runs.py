"""What the sources of connect-spooldir make of files."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.waiting import NewFilesCondition
from airflow_kconnect.connectors.spooldir.source import (
    SpoolDirCsvSourceConnector,
    SpoolDirJsonSourceConnector,
    SpoolDirLineDelimitedSourceConnector,
    SpoolDirSchemaLessJsonSourceConnector,
)
from tests.support.connectors.plans import plan_context
from tests.unit.connectors.record_files.conftest import names_below
from tests.unit.connectors.spooldir.conftest import SCHEMAS, TIMESTAMP, SpoolDir, plain, schema

ALL = {"errors.tolerance": "all"}


GENERATED = {"schema.generation.enabled": "true", "csv.first.row.as.header": "true"}


def test_columns_without_header_are_fields_of_the_schema_in_their_order(runs: SpoolDir) -> None:
    runs.put("a.csv", "1,x\n2,\n")
    assert runs.values(SCHEMAS) == [{"id": 1, "name": "x"}, {"id": 2, "name": ""}]
    assert runs.keys == [{"id": 1}, {"id": 2}]


def test_what_is_not_in_the_encoding_names_the_key_of_this_connector(runs: SpoolDir) -> None:
    runs.put("a.csv", b"1,\xf6\n")
    assert runs.values(SCHEMAS, ALL) == []
    assert runs.errors[0].endswith("expected UTF-8 (see `csv.file.charset`)")


def test_files_that_were_read_are_moved_and_not_read_again(runs: SpoolDir) -> None:
    runs.put("a.csv", "1,x\n")
    assert len(runs.values(SCHEMAS)) == 1
    assert names_below(runs.folder.parent) == ["done/a.csv"]
    assert runs.values(SCHEMAS) == []


def test_columns_that_the_schema_has_not_are_left_out_and_others_are_null(runs: SpoolDir) -> None:
    runs.put("a.csv", "more,id\nz,1\n")
    assert runs.values(SCHEMAS, {"csv.first.row.as.header": "true"}) == [{"id": 1, "name": None}]


def test_a_row_without_a_value_that_is_required_is_bad(runs: SpoolDir) -> None:
    runs.put("a.csv", "1,x\n,y\nz,w\n2,v\n")
    assert [row["id"] for row in runs.values(SCHEMAS, ALL)] == [1, 2]
    assert [text.partition("row ")[2] for text in runs.errors] == [
        "2: `id` is missing, and the schema of values requires it",
        "3: `id` is 'z', expected int64",
    ]
    assert names_below(runs.folder.parent) == ["bad/a.csv"]


def test_schemas_that_are_made_have_all_columns_as_strings(runs: SpoolDir) -> None:
    runs.put("a.csv", "id,n\n007,x\n")
    runs.put("b.csv", "n,z\ny,1\n")
    found = runs.values(GENERATED, {"schema.generation.key.fields": "id"})
    assert found == [{"id": "007", "n": "x"}, {"n": "y", "z": "1"}]
    assert runs.keys == [{"id": "007"}, {"id": None}]


@pytest.mark.parametrize(
    ("indicator", "expected"), [("NEITHER", ["", ""]), ("EMPTY_SEPARATORS", [None, ""]), ("BOTH", [None, None])]
)
def test_empty_values_are_null_as_the_indicator_says(
    runs: SpoolDir, indicator: str, expected: list[str | None]
) -> None:
    runs.put("a.csv", 'a,b,c\n,"",x\n')
    [row] = runs.values(GENERATED, {"csv.null.field.indicator": indicator})
    assert [row["a"], row["b"]] == expected


@pytest.mark.parametrize("header", [False, True])
def test_lines_at_the_beginning_are_left_out(runs: SpoolDir, header: bool) -> None:
    runs.put("a.csv", "made by,a program,on monday\n" + ("id,name\n" if header else "") + "1,x\n2\n3,y\n")
    keys = {"csv.skip.lines": "1", "csv.first.row.as.header": str(header).lower()}
    assert [row["id"] for row in runs.values(SCHEMAS, keys, ALL)] == [1, 3]
    assert ["row 2:" in text for text in runs.errors] == [True]


@pytest.mark.parametrize("content", ["", "id,name", "id,name\n"])
def test_a_file_with_nothing_after_the_lines_that_are_left_out_is_read(runs: SpoolDir, content: str) -> None:
    runs.put("a.csv", content)
    assert runs.values(SCHEMAS, {"csv.skip.lines": "1"}) == []
    assert names_below(runs.folder.parent) == ["done/a.csv"]


def test_spaces_before_a_quote_make_a_bad_row_unless_they_are_part_of_the_value(runs: SpoolDir) -> None:
    runs.put("a.csv", '1, "x"\n2,y\n')
    assert [row["name"] for row in runs.values(SCHEMAS, ALL, {"cleanup.policy": "NONE"})] == ["y"]
    assert "spaces before a quote" in runs.errors[0]
    runs.put("b.csv", '1, "x"\n')
    keys = {"csv.ignore.leading.whitespace": "false", "csv.escape.char": "0"}
    assert [row["name"] for row in runs.values(SCHEMAS, keys)] == [' "x"']


def test_a_comma_is_one_in_a_file_of_any_name(runs: SpoolDir) -> None:
    runs.put("a.tsv", "1,x\n")
    assert runs.values(SCHEMAS) == [{"id": 1, "name": "x"}]


def test_folders_below_are_read_only_if_they_should_be(runs: SpoolDir) -> None:
    runs.put("below/a.csv", "1,x\n")
    assert runs.values(SCHEMAS) == []
    assert len(runs.values(SCHEMAS, {"input.path.walk.recursively": "true"})) == 1


def test_records_have_the_time_of_their_field(runs: SpoolDir) -> None:
    value = schema(id=plain("INT64", optional=False), at=TIMESTAMP)
    runs.put("a.csv", "1,2026-01-02T03:04:05\n2,2026-01-02 03:04:06.5\n")
    keys = {**SCHEMAS, "value.schema": value, "timestamp.mode": "FIELD", "timestamp.field": "at"}
    assert runs.values(keys)[0] == {"id": 1, "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    assert runs.timestamps == [1_767_323_045_000, 1_767_323_046_500]


def test_a_date_may_be_written_as_the_beginning_of_a_day(runs: SpoolDir) -> None:
    day = {"type": "INT32", "name": "org.apache.kafka.connect.data.Date", "isOptional": True}
    runs.put("a.csv", "1,2026-01-02\n2,2026-01-03T00:00:00\n3,2026-01-04T00:00:01\n4,\n")
    keys = {**SCHEMAS, **ALL, "value.schema": schema(id=plain("INT64", optional=False), day=day)}
    assert [row["day"] for row in runs.values(keys)] == [date(2026, 1, 2), date(2026, 1, 3), None]
    assert ["2026-01-04" in text for text in runs.errors] == [True]


def test_a_bad_row_has_no_time_that_a_run_could_refuse(runs: SpoolDir) -> None:
    value = schema(id=plain("INT64", optional=False), at=TIMESTAMP)
    runs.put("a.csv", "x,1950-01-02T03:04:05\n")
    keys = {**SCHEMAS, **ALL, "value.schema": value, "timestamp.mode": "FIELD", "timestamp.field": "at"}
    connector = runs.connector(**keys)
    [split] = runs.plan(connector).splits
    [batch] = connector.batches([(0, split, split.start)]).read(0)
    assert batch.column("timestamp").to_pylist() == [None]


def test_records_have_the_time_of_their_file(runs: SpoolDir) -> None:
    runs.class_ = SpoolDirLineDelimitedSourceConnector
    os.utime(runs.put("a.log", "x\ny\n"), (1_700_000_000, 1_700_000_000))
    assert runs.values({"timestamp.mode": "FILE_TIME"}) == ["x", "y"]
    assert runs.timestamps == [1_700_000_000_000] * 2


def test_members_of_json_that_the_schema_has_not_are_left_out(runs: SpoolDir) -> None:
    runs.class_ = SpoolDirJsonSourceConnector
    runs.put("a.json", '{"id": 1, "more": [1, {"a": 2}]}\n{"name": "x", "id": 2}\n{"name": "y"}\n')
    assert runs.values(SCHEMAS, ALL) == [{"id": 1, "name": None}, {"id": 2, "name": "x"}]
    assert runs.keys == [{"id": 1}, {"id": 2}]
    assert "`id` is missing" in runs.errors[0]


def test_a_bad_row_of_json_names_the_key_with_its_types(runs: SpoolDir) -> None:
    runs.class_ = SpoolDirJsonSourceConnector
    runs.put("a.json", '{"id": "x"}\n')
    assert runs.values(SCHEMAS, ALL) == []
    assert runs.errors[0].endswith("If it is right, give it another type in `value.schema`")
    assert "schema.types" not in runs.errors[0]


def test_json_without_schema_is_the_text_of_the_line(runs: SpoolDir) -> None:
    runs.class_ = SpoolDirSchemaLessJsonSourceConnector
    runs.put("a.dat", '{"a": [1,  2]}\nnone\n')
    assert runs.values(ALL) == ['{"a": [1,  2]}']
    assert len(runs.errors) == 1


def test_a_folder_that_is_missing_is_named_by_its_key(runs: SpoolDir, tmp_path: Path) -> None:
    connector = runs.connector(**SCHEMAS, **{"input.path": str(tmp_path / "none")})
    for look in (connector.check, lambda: runs.plan(connector)):
        with pytest.raises(ConfigError) as raised:
            look()
        assert [*raised.value.errors] == ["input.path"]


def test_files_can_be_waited_for_by_the_keys_that_a_sensor_keeps(runs: SpoolDir) -> None:
    runs.put("a.csv", "1,x\n")
    runs.put("below/b.csv", "1,x\n")
    props = {name: text for name, text in runs.props(SCHEMAS).items() if name in NewFilesCondition.needs}
    assert SpoolDirCsvSourceConnector(props).unread(plan_context()) == ["a.csv"]


def test_a_run_that_is_stopped_within_a_file_is_continued_with_its_keys(runs: SpoolDir) -> None:
    runs.put("a.csv", "made by hand\n1,x\n2,y\n3,z\n")
    keys = {**SCHEMAS, "csv.skip.lines": "1"}
    assert [row["id"] for row in runs.values(keys, most=2)] == [1, 2]
    assert [row["id"] for row in runs.values(keys)] == [3]
    assert runs.keys == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_large_files_are_cut_after_the_lines_that_are_left_out(runs: SpoolDir) -> None:
    runs.put("a.csv", "id,name\n" + "".join(f"{n},x\n" for n in range(100)))
    keys = {**SCHEMAS, "csv.skip.lines": "1", "csv.multiline": "false", "split.bytes": "50"}
    assert [row["id"] for row in runs.values(keys)] == [*range(100)]
