"""Bad records of a table sink as rows of a table, in whole runs.

A run with bad records has four jobs; what one of them gets wrong is lost, or there twice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.integration.runtime.sink.planned.test_interrupted_plans import ending_at

KEYS = {"errors.tolerance": "all", "errors.deadletterqueue.table.enable": "true"}


def test_a_bad_record_is_a_row_that_says_why_and_what_it_was_once_if_the_run_is_interrupted(
    run_here: Run, tables: Lake
) -> None:
    """That of its table; of a record that names none, that of its topic."""
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.t (id BIGINT, kind STRING) USING iceberg")
    unfitting, nowhere = record(id=2, kind="t", note="x"), record(id=3)
    topic = tables.topic(record(id=1, kind="t"), "{oops", unfitting, nowhere)
    tables.add(topic, "{again", headers=[("from", b"x")])
    routed = {"table.route.field": "kind", "table.name.format": f"{tables.namespace}.${{route}}"}
    config = tables.config(topic, **KEYS, **routed)
    report = run_here(config)
    assert (report.records["written"], report.records["dead_lettered"]) == (1, 4)
    columns = "offset", "partition", "topic", "value", "stage", "headers"
    assert tables.rows("t__dlq", *columns) == [(2, 0, topic, bytearray(unfitting.encode()), "TASK_PUT", None)]
    assert "`note`" in tables.rows("t__dlq", "message")[0].message
    assert [tuple(row) for row in tables.rows(f"{topic}__dlq", *columns)] == [
        (1, 0, topic, bytearray(b"{oops"), "VALUE_CONVERTER", None),
        (3, 0, topic, bytearray(nowhere.encode()), "TASK_PUT", None),
        (4, 0, topic, bytearray(b"{again"), "VALUE_CONVERTER", [("from", bytearray(b"x"))]),
    ]
    tables.add(topic, record(id=5, kind="t"), "{once")
    with ending_at("after-visible"):
        run_here(config)
    run_here(config)
    assert (tables.rows("t", "id"), len(tables.rows(f"{topic}__dlq"))) == ([(1,), (5,)], 4)


@pytest.mark.exhaustive
def test_records_without_a_bad_one_need_no_table_for_them(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=1))
    run_here(tables.config(topic, **KEYS))
    assert tables.tables() == {topic}


@pytest.mark.exhaustive
def test_a_table_and_a_topic_of_bad_records_go_together(run_here: Run, tables: Lake) -> None:
    topic, letters = tables.topic(record(id=1), "{oops"), tables.topic()
    run_here(tables.config(topic, **KEYS, **{"errors.deadletterqueue.topic.name": letters}))
    report = run_here(tables.config(letters, **KEYS, **{"name": "letters"}))
    assert (len(tables.rows(f"{topic}__dlq")), report.records["dead_lettered"]) == (1, 1)


def test_a_dead_letter_that_is_replayed_reaches_the_table_of_its_topic(run_here: Run, tables: Lake) -> None:
    letters = tables.topic()
    topic = tables.topic(record(id=1), record(id=2, note="x"))
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.{topic} (id BIGINT) USING iceberg")
    keys = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    config = tables.config(topic, **keys)
    assert run_here(config).records["dead_lettered"] == 1
    run_here({**config, "auto.evolve": "true"}, replay=True)
    assert tables.rows(topic, "id", "note") == [(1, None), (2, "x")]


def test_tables_of_delta_have_them_too(run_here: Run, tables: Lake, tmp_path: Path) -> None:
    topic = tables.topic(record(id=1), "{oops")
    place = {"table.name.format": "default.${topic}", "table.location": f"{tmp_path}/${{table}}"}
    config = tables.config(topic, **KEYS, **place, **{"table.format": "delta"})
    report = run_here(config)
    assert (report.records["written"], report.records["dead_lettered"]) == (1, 1)
    tables.add(topic, record(id=2))
    run_here(config)
    assert [tables.spark.table(f"default.{name}").count() for name in (topic, f"{topic}__dlq")] == [2, 1]
