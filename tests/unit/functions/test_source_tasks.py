"""Tasks of source functions, polled as a run does, without a broker."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from airflow_kconnect.connect.connector.task import NewShapes, SourceTask, SourceTaskContext
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.functions.source import source
from airflow_kconnect.functions.source_spec import Record
from airflow_kconnect.java_text.json import partition_identity


def started(function: Any, known: Any = None, offset: Any = None, partition: str | None = None) -> SourceTask:
    """A task of a decorated function. :param known: facts of shapes. :param offset: of its only source partition."""
    connector = function.plugin_class({"name": "mine"})
    connector.learn([known] if known else [])
    (props,) = connector.task_configs(1)
    task: SourceTask = connector.task_class()()
    at = {partition_identity(connector.spec.source_partition(partition)): offset} if offset else {}
    task.initialize(SourceTaskContext(props, at))
    task.start(props)
    return task


def polled(task: SourceTask) -> list[SourceRecord]:
    """All that it has."""
    found: list[SourceRecord] = []
    while (records := task.poll()) is not None:
        found += records
    return found


def sent(function: Any, offset: Mapping[str, Any] | None = None) -> list[SourceRecord]:
    """What a run sends, learning of shapes until there are no new ones."""
    known: Mapping[str, Any] | None = None
    while True:
        try:
            return polled(started(function, known, offset))
        except NewShapes as new:
            known = new.facts


def test_records_with_the_same_value_for_several_topics_or_keys_are_all_sent() -> None:
    @source(cursor="at")
    def copies() -> Iterator[Record]:
        yield from (Record({"at": 1}, topic=topic, key=key) for topic in ("a", "b") for key in ("x", "y"))

    found = sent(copies)
    assert [(each.topic, each.key) for each in found] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert sent(copies, found[-1].source_offset) == []


@pytest.mark.parametrize("bad", [object(), [1, "x"]], ids=["an object", "a list of several types"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_value_without_a_schema_is_an_error_of_its_record(bad: Any, is_first: bool) -> None:
    rows = [{"at": 1, "x": 0}, {"at": 2, "x": bad}] if not is_first else [{"at": 1, "x": bad}, {"at": 2, "x": 0}]

    @source(cursor="at")
    def mixed() -> Iterator[Any]:
        yield from rows

    values = [each.value for each in sent(mixed)]
    assert [isinstance(value, DataError) for value in values] == [is_first, not is_first]


def test_a_function_has_closed_what_it_opened_before_it_is_called_again() -> None:
    opened: list[bool] = []

    @source(cursor="at")
    def opening() -> Iterator[Any]:
        opened.append(True)
        try:
            yield from ({"at": n} for n in range(2000))
        finally:
            opened.clear()

    with pytest.raises(NewShapes) as held:
        polled(started(opening))
    assert (bool(held.value.facts), opened) == (True, [])


def test_a_failure_further_on_does_not_hide_the_shapes_of_records_before_it() -> None:
    @source(cursor="at")
    def breaking() -> Iterator[Any]:
        yield {"at": 1}
        raise ValueError("broken")

    with pytest.raises(NewShapes):
        started(breaking).poll()


def test_a_poll_that_is_repeated_continues_behind_what_was_sent() -> None:
    answers: list[list[Any]] = [[1, 2, ConnectionError("no answer")], [1, 2, ConnectionError("nor now")], [1, 2, 3]]

    @source(cursor="at", schema=None)
    def unsteady() -> Iterator[Any]:
        for each in answers.pop(0):
            if isinstance(each, Exception):
                raise each
            yield {"at": each}

    task, found = started(unsteady), []
    while (records := _patiently(task)) is not None:
        found += [each.value["at"] for each in records]
    assert (found, answers) == ([1, 2, 3], [])


def _patiently(task: SourceTask) -> Any:
    while True:
        try:
            return task.poll()
        except RetriableError:
            continue


def shapes_of(*rows: Any) -> Mapping[str, Any]:
    """What a task of `orders` finds when these are new."""

    @source(cursor="at")
    def orders() -> Iterator[Any]:
        yield from rows

    with pytest.raises(NewShapes) as found:
        started(orders).poll()
    return found.value.facts


@source(cursor="at")
def orders() -> Iterator[Any]:
    yield from ()


def test_of_shapes_of_two_tasks_that_contradict_each_other_one_is_known_later() -> None:
    number, text = shapes_of({"at": 1, "n": 1}), shapes_of({"at": 1, "n": "x"})
    assert orders.plugin_class({"name": "mine"}).learn([number, text]) == number


def test_shapes_of_another_function_do_not_count() -> None:
    @source(cursor="id")
    def events() -> Iterator[Any]:
        yield from ()

    connector = events.plugin_class({"name": "mine"})
    connector.learn([shapes_of({"at": 1, "id": "x"})])
    assert connector.shapes().values == ()


def test_an_offset_with_half_of_the_cursor_is_refused() -> None:
    @source(cursor=("at", "id"))
    def pairs() -> Iterator[Any]:
        yield from ()

    with pytest.raises(ConfigError, match="is not an offset of pairs: it has at, id"):
        pairs.plugin_class.alter_offsets({"name": "mine"}, [({"source": "pairs"}, {"at": 5})])


def test_a_time_without_a_zone_is_utc_wherever_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()

    @source(timestamp="at", schema=None)
    def timed() -> Iterator[Any]:
        yield {"at": datetime(1970, 1, 1, 0, 0, 1)}

    (record,) = sent(timed)
    monkeypatch.undo()
    time.tzset()
    assert record.timestamp == 1000


def test_partitions_are_asked_for_once_in_a_run() -> None:
    answers = [["a", "b"], ["a", "b", "c"]]

    @source(partitions=lambda: answers.pop(0))
    def each(partition: str) -> Iterator[Any]:
        yield {"id": partition}

    connector = each.plugin_class({"name": "mine"})
    assert connector.task_configs(9) == connector.task_configs(9)


@pytest.mark.parametrize(("error", "kind"), [(ConnectionError, RetriableError), (KeyError, DataError)])
def test_an_error_of_the_partitions_is_one_of_the_run(error: type[Exception], kind: type[Exception]) -> None:
    def failing() -> list[str]:
        raise error("no answer")

    @source(partitions=failing)
    def each(partition: str) -> Iterator[Any]:
        yield {"id": partition}

    with pytest.raises(kind, match=r"partitions of each: .*no answer"):
        each.plugin_class({"name": "mine"}).task_configs(1)


@pytest.mark.parametrize("returned", ["text", {"id": 1}], ids=["a text", "a record"])
def test_what_is_returned_in_place_of_a_list_of_records_is_not_taken_apart(returned: Any) -> None:
    @source(schema=None)
    def single() -> Any:
        return returned

    with pytest.raises(DataError, match="single returns one"):
        sent(single)


class Pages:
    """Something that can only be iterated asynchronously, and is not a generator."""

    async def __aiter__(self) -> Any:
        yield {"id": 1}


def test_a_function_may_return_what_is_iterated_asynchronously() -> None:
    @source(schema=None)
    def paged() -> Any:
        return Pages()

    assert [each.value for each in sent(paged)] == [{"id": 1}]
