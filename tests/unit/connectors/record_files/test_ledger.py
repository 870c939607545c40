"""Which files a run reads: each once, from where it was left, as it was planned."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_kconnect.connect.connector.source import PlanContext, SourcePlan
from airflow_kconnect.connect.error_cells import error_from_column, record_error
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connectors.record_files import source
from airflow_kconnect.connectors.record_files.config import char_of
from airflow_kconnect.connectors.record_files.offsets import offset_problems
from airflow_kconnect.connectors.record_files.selection import Rules, Selected, select
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.places.base import Place
from airflow_kconnect.stores.offset_topic.records import PlanRecord
from tests.unit.connectors.record_files.conftest import Runs


def test_a_file_is_read_once(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    assert runs.read() == [{"a": 1}]
    runs.put("b/c.csv", "a\n2\n")
    assert runs.read() == [{"a": 2}]
    assert runs.read() == []


def test_a_stopped_run_is_continued_at_its_row(runs: Runs) -> None:
    runs.put("a.csv", "a\n" + "".join(f"{n}\n" for n in range(10)))
    assert [row["a"] for row in runs.read(most=3)] == [0, 1, 2]
    assert [row["a"] for row in runs.read()] == [3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(("on_changed", "expected"), [("restart", [{"a": 2}]), ("ignore", [])])
def test_a_changed_file_is_read_again_or_left_out_as_configured(
    runs: Runs, on_changed: str, expected: list[object]
) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read()
    (runs.folder / "a.csv").unlink()
    runs.put("a.csv", "a\n2\n")
    assert runs.read(on_changed=on_changed) == expected


def test_a_changed_file_is_an_error_that_names_it(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.read()
    (runs.folder / "a.csv").unlink()
    runs.put("a.csv", "a\n2\n")
    with pytest.raises(DataError, match=r"file .*/a\.csv was changed or replaced after it was read"):
        runs.read()


def test_a_file_that_changes_after_a_plan_is_not_read_by_it(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    connector = runs.connector()
    [split] = runs.plan(connector).splits
    runs.put("a.csv", "a\n1\n2\n")
    with pytest.raises(DataError, match="was changed or replaced while a run that reads it was unfinished"):
        connector.recheck([(0, split)])
    assert runs.connector(**{"on.changed": "restart"}).recheck([(0, split)]) == {0}


def test_a_file_that_changes_while_it_is_read_is_an_error_even_if_bad_files_are_skipped(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    connector = runs.connector(**{"errors.tolerance": "all"})
    [split] = runs.plan(connector).splits
    batches = connector.batches([(0, split, split.start)]).read(0)
    next(batches)
    runs.put("a.csv", "a\n1\n2\n")
    [cell] = next(batches).column("error").to_pylist()
    assert record_error(cell) is None
    assert "was changed or replaced while it was read" in str(error_from_column(cell, ""))


def test_an_empty_file_that_is_filled_before_it_is_read_is_an_error(runs: Runs) -> None:
    path = runs.put("a.csv", "")
    connector = runs.connector()
    [split] = runs.plan(connector).splits
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_text("a\n1\n")
    os.utime(path, ns=times)  # as within a tick of the clock
    [cell] = next(connector.batches([(0, split, split.start)]).read(0)).column("error").to_pylist()
    assert "was changed or replaced while it was read" in str(error_from_column(cell, ""))


def test_a_lack_of_memory_is_no_damage_of_a_file(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **keys: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    pq.write_table(pa.table({"a": [1]}), runs.folder / "a.parquet")
    connector = runs.connector(**{"errors.tolerance": "all"})
    [split] = runs.plan(connector).splits
    batches = connector.batches([(0, split, split.start)])
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", exhausted)
    [cell] = next(batches.read(0)).column("error").to_pylist()
    assert record_error(cell) is None
    assert isinstance(error_from_column(cell, ""), RetriableError)


def test_no_row_follows_a_change_of_the_file_since_rows_are_committed_before_its_end(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.connectors.record_files.formats.csv._BLOCK", 1000)
    old = "a\n" + "1111\n" * 50_000
    path = runs.put("a.csv", old)
    connector = runs.connector()
    [split] = runs.plan(connector).splits
    batches = connector.batches([(0, split, split.start)]).read(0)
    next(batches)
    with path.open("r+b") as file:  # the same file, whose bytes are others
        file.write(old.replace("1", "2").encode())
    [cell] = next(batches).column("error").to_pylist()
    assert "was changed or replaced while it was read" in str(error_from_column(cell, ""))


def test_hidden_files_and_others_than_the_pattern_are_left_out(runs: Runs) -> None:
    for name in (".a.csv", "_a.csv", "b.txt", "a.csv"):
        runs.put(name, "a\n1\n")
    assert runs.read(input_file_pattern=r".*\.csv") == [{"a": 1}]


def test_folders_in_which_jobs_are_still_writing_are_left_out(runs: Runs) -> None:
    for n, name in enumerate(("_temporary/0/a.csv", ".x/a.csv", "b/_tmp/a.csv", "_day=1/a.csv", "b/a_/a.csv")):
        runs.put(name, f"a\n{n}\n")
    assert runs.read() == [{"a": 3}, {"a": 4}]


def test_a_name_that_says_no_format_is_an_error_that_says_what_to_do(runs: Runs) -> None:
    runs.put("a.dat", "a\n1\n")
    with pytest.raises(DataError, match=r"/a\.dat has a name that does not say what it is: set `format`"):
        runs.read()


def test_a_missing_folder_is_an_error(runs: Runs) -> None:
    with pytest.raises(ConfigError, match=r"there is no folder .*/none"):
        FilesSourceConnector({"directory": f"{runs.folder}/none", "topic": "t"}).check()


def test_a_folder_that_is_gone_is_no_empty_one(runs: Runs) -> None:
    connector = runs.connector()
    connector.check()
    runs.folder.rmdir()
    for look in (connector.nothing_new, connector.plan):
        with pytest.raises(ConfigError, match="there is no folder"):
            look(runs.context())


def test_nothing_new_is_known_without_opening_files(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    assert runs.connector().nothing_new(runs.context()) is None
    runs.read()
    (runs.folder / "a.csv").chmod(0)
    assert runs.connector().nothing_new(runs.context()) == SourcePlan(())


@pytest.mark.parametrize("columns", [1, 60])
def test_the_plan_of_a_large_file_fits_into_a_record(runs: Runs, columns: int) -> None:
    names = ",".join(f"column_with_number_{n}" for n in range(columns))
    text = f"{names}\n" + f"{','.join('1' * columns)}\n" * 10_000
    runs.put("a.csv", text)
    splits = runs.plan(runs.connector(**{"csv.multiline": "false", "split.bytes": str(len(text) // 3000)})).splits
    assert len(splits) > 50
    assert len(json.dumps([asdict(split) for split in splits])) < 500_000
    assert [split.detail["begin"] for split in splits[1:]] == [split.detail["end"] for split in splits[:-1]]
    assert splits[-1].detail["end"] == len(text)


def test_the_plan_of_files_with_long_names_fits_into_a_record(runs: Runs) -> None:
    folder = "/".join(["ж" * 100] * 5)
    for n in range(300):
        runs.put(f"{folder}/{n}.txt", "x\n")
    plan = runs.plan(runs.connector())
    assert plan.full
    assert len(PlanRecord("plan", "run", len(plan.splits), plan.splits).encode()) < 900_000


def test_files_with_other_columns_have_shapes_of_their_own(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    runs.put("b.csv", "b,c\nx,2\n")
    assert runs.read() == [{"a": 1}, {"b": "x", "c": 2}]


@pytest.mark.parametrize(
    ("partition", "offset", "count"),
    [
        ({"file": "a"}, {"version": "1", "done": True}, 0),
        ({"file": "a"}, {"version": "1", "begin": 0, "rows": 3}, 0),
        ({"filename": "a"}, {"version": "1", "done": True}, 1),
        ({"file": "a"}, {"done": True}, 1),
        ({"file": "a"}, {"version": "1", "begin": -1, "rows": 3}, 1),
    ],
)
def test_offsets_that_are_altered_are_checked(
    partition: dict[str, object], offset: dict[str, object], count: int
) -> None:
    assert len(offset_problems(partition, offset)) == count


@pytest.mark.parametrize(("text", "char"), [(",", ","), ("9", "\t"), ("44", ","), ("", None)])
def test_characters_are_written_as_such_or_as_numbers(text: str, char: str | None) -> None:
    assert char_of(text) == char


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("input.file.pattern", "("),
        ("schema.types", "id"),
        ("schema.types", "id:integer"),
        ("csv.separator.char", "ab"),
        ("csv.separator.char", "200"),
        ("csv.separator.char", "10"),
        ("csv.quote.char", "13"),
        ("file.charset", "utf-99"),
        ("file.charset", "base64"),
    ],
)
def test_wrong_values_of_keys_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as error:
        FilesSourceConnector.config().parse({"directory": "/in", "topic": "t", key: value})
    assert list(error.value.errors) == [key]


def test_keys_that_contradict_each_other_are_refused() -> None:
    props = {"directory": "/in", "format": "csv", "schema.inference": "none", "kconnect.max.records": "5"}
    assert set(FilesSourceConnector.validate(props)) == {"schema.inference", "kconnect.max.records"}
    assert set(FilesSourceConnector.validate({"directory": "/in", "csv.separator.char": "34"})) == {
        "csv.separator.char"
    }


def test_facts_are_kept_until_the_offsets_have_all_columns(runs: Runs) -> None:
    runs.put("a.csv", "id,n\n1,x\n")
    runs.put("b.csv", "id,n\n2,x\n")
    runs.read()
    runs.put("c.csv", "n,id\nx,3\n")
    runs.put("d.csv", "id,more\n4,1.5\n")
    runs.read()
    runs.put("e.csv", "id,more\n5,2\n")
    assert runs.read() == [{"id": 5, "more": 2.0}]
    with_facts = [identity for identity, facts in runs.facts.items() if facts]
    assert [json.loads(identity)["file"] for identity in with_facts] == ["a.csv", "b.csv", "d.csv"]


def test_a_plan_that_is_full_says_so(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_PLAN_BYTES", 500)
    for n in range(20):
        runs.put(f"{n:02}.csv", f"id\n{n}\n")
    plan = runs.plan(runs.connector())
    assert (plan.full, plan.notes, 1 < len(plan.splits) < 20) == (True, {"more": True}, True)
    assert [row["id"] for _ in range(20) for row in runs.read()] == list(range(20))
    assert not runs.plan(runs.connector()).full


def test_files_are_listed_once_for_all_plans_of_a_run_and_once_at_its_end(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_PLAN_BYTES", 500)
    for n in range(10):
        runs.put(f"{n}.txt", "x\n")
    connector, planned = runs.connector(), list[str]()
    listings: list[Selected] = []

    def counted(place: Place, rules: Rules, context: PlanContext) -> Selected:
        listings.append(select(place, rules, context))
        return listings[-1]

    monkeypatch.setattr(source, "select", counted)
    plan = runs.plan(connector)
    runs.put("8.txt", "x\ny\n")  # it is not read as it was seen
    runs.put("a.txt", "x\n")
    while True:
        planned += [split.source_partition["file"] for split in plan.splits]
        for split in plan.splits:
            identity = partition_identity(split.source_partition)
            runs.offsets[identity] = connector.offset(split, split.end)
        if not plan.full:
            break
        plan = runs.plan(connector)
    assert (planned, len(listings)) == ([f"{n}.txt" for n in (0, 1, 2, 3, 4, 5, 6, 7, 9, 8, "a")], 2)
