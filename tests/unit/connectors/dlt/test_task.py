"""The task of a dlt source: what has an offset, and that each offset resumes without a gap and without doubles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.errors import DataError, NextRunError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.dlt.source import DltSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors import tasks
from tests.support.connectors.tasks import offsets_of, pages, polls

SOURCES = "tests.support.connectors.dlt_sources"


@pytest.fixture
def count_file(tmp_path: Path) -> Path:
    path = tmp_path / "count"
    path.write_text("25")
    return path


def started(function: str, offsets: dict[str, Offset] | None = None, /, **keys: str) -> Any:
    props = {"name": "d", "dlt.source": f"{SOURCES}:{function}", **keys}
    return tasks.started(DltSourceConnector(props), offsets)


def read(function: str, offsets: dict[str, Offset] | None = None, /, **keys: str) -> list[SourceRecord]:
    return list(polls(started(function, offsets, **keys)))


def numbers(records: list[SourceRecord]) -> list[int]:
    return [record.value["n"] for record in records]


RESOURCES = ("ordered", "newest_first", "with_own_state", "in_threads")


@pytest.mark.parametrize("function", RESOURCES)
def test_a_second_run_reads_what_is_new(function: str, count_file: Path) -> None:
    keys = {"dlt.args.count_file": str(count_file)}
    first = read(function, **keys)
    count_file.write_text("33")
    second = read(function, offsets_of(first), **keys)
    assert (sorted(numbers(first)), sorted(numbers(second))) == (list(range(25)), list(range(25, 33)))


@pytest.mark.parametrize("function", RESOURCES)
def test_a_run_that_ends_at_any_offset_is_resumed_without_gap_or_doubles(function: str, count_file: Path) -> None:
    """What has no offset yet is not committed."""
    keys = {"dlt.args.count_file": str(count_file)} | ({} if function == "in_threads" else {"dlt.args.size": "4"})
    records = read(function, **keys)
    ends = [n for n, record in enumerate(records, 1) if record.source_offset is not None]
    assert ends[-1] == len(records)
    for end in ends:
        later = read(function, offsets_of(records[:end]), **keys)
        assert sorted(numbers(records[:end]) + numbers(later)) == list(range(25))


def test_each_page_is_a_resume_point_where_rows_come_in_the_order_of_the_cursor(count_file: Path) -> None:
    polled = list(pages(started("ordered", **{"dlt.args.count_file": str(count_file)})))
    assert [[record.source_offset is not None for record in page][-1] for page in polled] == [True, True, True]
    assert not any(record.source_offset for page in polled for record in page[:-1])


@pytest.mark.parametrize("function", ["newest_first", "with_own_state"])
def test_else_only_the_end_of_the_resource_is(function: str, count_file: Path) -> None:
    records = read(function, **{"dlt.args.count_file": str(count_file)})
    assert [n for n, record in enumerate(records) if record.source_offset] == [24]


def test_what_the_user_knows_of_the_state_may_replace_what_is_proved(count_file: Path) -> None:
    keys = {"dlt.args.count_file": str(count_file)}
    by_page = read("with_own_state", **keys, **{"dlt.resume.after": "page"})
    at_end = read("ordered", **keys, **{"dlt.resume.after": "resource"})
    ends = [[n for n, record in enumerate(records) if record.source_offset] for records in (by_page, at_end)]
    assert ends == [[9, 19, 24], [24]]


def test_a_resource_that_replaces_its_table_is_read_whole_and_its_state_begins_empty(count_file: Path) -> None:
    keys = {"dlt.args.count_file": str(count_file)}
    first = read("whole", **keys)
    second = read("whole", offsets_of(first), **keys)
    assert numbers(second) == list(range(25))
    assert second[-1].source_offset == {"state": '{"whole":{"resources":{"whole":{"seen":1}}}}'}


def test_dates_and_decimals_of_the_state_come_back_as_such(count_file: Path) -> None:
    from airflow_kconnect.connectors.dlt.reading import decoded_state, encoded_state

    last = read("with_own_state", **{"dlt.args.count_file": str(count_file)})[-1]
    assert last.source_offset is not None
    state = decoded_state(last.source_offset["state"])["with_own_state"]["resources"]["with_own_state"]
    assert [type(state[name]).__name__ for name in ("on", "sum", "next")] == ["date", "Decimal", "int"]
    assert decoded_state(encoded_state({"s": state})) == {"s": state}


def test_resources_that_take_their_data_from_others_have_their_state_with_them(count_file: Path) -> None:
    keys = {"dlt.args.count_file": str(count_file), "dlt.args.api_key": "k", "dlt.resources": "items"}
    first = read("shop", **keys)
    count_file.write_text("27")
    second = read("shop", offsets_of(first), **keys)
    assert (len(first), numbers(second)) == (50, [26, 26, 25, 25])


def test_each_resource_is_a_source_partition(count_file: Path) -> None:
    keys = {"dlt.args.count_file": str(count_file), "dlt.args.api_key": "k"}
    records = read("shop", **keys)
    partitions = [{"source": "shop", "resource": "items"}, {"source": "shop", "resource": "ordered"}]
    assert sorted(offsets_of(records)) == [partition_identity(partition) for partition in partitions]


def test_an_error_of_the_source_says_which_resource_has_failed() -> None:
    with pytest.raises(DataError, match=r"resource failing of dlt's source failing failed.*the service is unavailable"):
        read("failing")


def test_a_state_that_cannot_be_kept_is_an_error_of_its_resource() -> None:
    with pytest.raises(DataError, match=r"resource forgetful of dlt's source forgetful failed: TypeError"):
        read("forgetful")


def test_a_service_that_breaks_off_is_worth_a_retry_which_begins_at_the_last_offset(count_file: Path) -> None:
    polled = pages(started("unsteady", **{"dlt.args.count_file": str(count_file)}))
    assert numbers(next(polled)) == list(range(10))
    with pytest.raises(RetriableError, match="Connection reset by peer"):
        next(polled)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param("page", list(range(25)), id="all is read once"),
        pytest.param("resource", None, id="records without an offset were returned already"),
    ],
)
def test_a_poll_after_a_failure_doubles_nothing(after: str, expected: list[int] | None, count_file: Path) -> None:
    task = started("unsteady", **{"dlt.args.count_file": str(count_file), "dlt.resume.after": after})
    records = [*(task.poll() or ())]
    with pytest.raises(RetriableError if expected else NextRunError):
        task.poll()
    if expected is None:
        return
    while (polled := task.poll()) is not None:
        records += polled
    assert numbers(records) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (
            "with_deletes",
            [
                ("shop.with_deletes", {"a": 1, "b": "x"}, {"a": 1, "b": "x", "gone": None}),
                ("shop.with_deletes", {"a": 1, "b": "y"}, None),
                ("shop.with_deletes", {"a": 2, "b": "x"}, {"a": 2, "b": "x", "gone": False}),
            ],
        ),
        (
            "by_kind",
            [
                ("shop.of_order", None, {"kind": "order", "n": 1}),
                ("shop.of_refund", None, {"kind": "refund", "n": 2}),
            ],
        ),
        (
            "values",
            [
                (
                    "shop.values",
                    None,
                    {"amount": "1.50", "at": "2026-01-01T00:00:00+00:00", "on": "2026-01-01", "raw": "AQ==",
                     "none": None},
                ),
                ("shop.values", None, {"value": 7}),
            ],
        ),
    ],
    ids=["deletes are tombstones", "tables that depend on rows are topics", "values are JSON"],
)  # fmt: skip
def test_records_follow_the_hints_of_their_resource(function: str, expected: list[Any]) -> None:
    records = read(function, **{"topic.prefix": "shop."})
    assert [(record.topic, record.key, record.value) for record in records] == expected


def test_a_record_without_its_key_is_an_error() -> None:
    with pytest.raises(DataError, match="without `other`, which is in its primary key"):
        read("by_kind", **{"dlt.hints.by_kind": '{"primary_key": "other"}'})


@pytest.mark.parametrize("as_rows", ["true", "false"])
@pytest.mark.parametrize("schemas", ["none", "declared"])
def test_what_pandas_does_not_know_is_null(schemas: str, as_rows: str) -> None:
    known, unknown = read("frame", **{"dlt.schemas": schemas, "dlt.args.as_rows": as_rows})
    assert (known.value["n"], known.value["name"]) == (1, "a")
    assert unknown.value == {"n": None, "at": None, "name": None}
