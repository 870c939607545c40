"""Which records of a table sink reach which table, in whole runs: where one goes wrong, it is lost silently."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record

TOLERANT = {"errors.tolerance": "all"}


def test_topics_go_to_tables_of_their_own_with_nothing_but_their_own_columns(run_here: Run, tables: Lake) -> None:
    """Whose names may be those of what goes along with records. A dry run creates none."""
    orders = tables.topic(record(id=1, price=2.5), record(id=2, price=3.5))
    users = tables.topic(record(error="x", kafka_offset=7, read_from="y"))
    config = tables.config(orders, users)
    assert (run_here(config, dry_run=True).notes["would_read_offsets"], tables.tables()) == (3, set())
    report = run_here(config)
    assert report.records == {"read": 3, "written": 3, "filtered": 0, "dead_lettered": 0}
    assert tables.columns(orders) == {"id": "bigint", "price": "double"}
    assert tables.columns(users) == {"error": "string", "kafka_offset": "bigint", "read_from": "string"}
    assert (len(tables.rows(orders)), tables.rows(users)) == (2, [("x", 7, "y")])


def test_several_topics_share_a_table(run_here: Run, tables: Lake) -> None:
    one, other = tables.topic(record(id=1)), tables.topic(record(id=2, note="x"))
    run_here(tables.config(one, other, **{"table.name.format": f"{tables.namespace}.both"}))
    assert tables.rows("both", "id", "note") == [(1, None), (2, "x")]


def test_a_shape_that_another_topic_had_before_reaches_the_table_too(run_here: Run, tables: Lake) -> None:
    first = [record(id=n) for n in range(150)]  # more than what is looked at
    one, other = tables.topic(*first, record(id=150, note="x")), tables.topic(record(id=1, note="y"))
    run_here(tables.config(one, other, **{"auto.evolve": "true"}))
    assert len(tables.rows(one)) == 151
    assert ("x",) in tables.rows(one, "note")


def test_a_topic_that_depends_on_the_record_is_found_record_by_record(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=1, kind="a"), record(id=2, kind="b"))
    rename = {"type": "org.apache.kafka.connect.transforms.RegexRouter", "regex": ".*", "replacement": "rest"}
    keys = {f"transforms.route.{key}": text for key, text in rename.items()}
    keys |= {
        "transforms.route.predicate": "tombstone",
        "predicates": "tombstone",
        "predicates.tombstone.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
        "transforms.route.negate": "true",
    }
    tables.add(topic, None)
    report = run_here(tables.config(topic, transforms="route", **keys))
    assert (tables.tables(), report.records["filtered"]) == ({"rest"}, 1)


def test_a_field_says_where_a_record_goes(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(
        record(id=1, kind="a"), record(id=2, kind="b"), record(id=3, kind="a"), record(kind="b", note="x"), record(id=4)
    )
    keys = {"table.route.field": "kind", "table.name.format": f"{tables.namespace}.of_${{route}}", **TOLERANT}
    report = run_here(tables.config(topic, **keys))
    assert report.records == {"read": 5, "written": 4, "filtered": 0, "dead_lettered": 1}
    assert tables.rows("of_a", "id") == [(1,), (3,)]
    assert tables.columns("of_b") == {"id": "bigint", "kind": "string", "note": "string"}


def test_a_header_says_where_a_record_goes(run_here: Run, tables: Lake) -> None:
    topic = tables.topic()
    tables.add(topic, record(id=1), headers=[("to", b"a")])
    tables.add(topic, record(id=2), headers=[("to", b"b`; DROP TABLE x")])
    tables.add(topic, record(id=3), headers=[("to", b"..")])
    tables.add(topic, record(id=4))
    keys = {"table.route.header": "to", "table.name.format": f"{tables.namespace}.${{route}}", **TOLERANT}
    report = run_here(tables.config(topic, **keys))
    assert report.records["dead_lettered"] == 2
    assert tables.tables() == {"a", "b`; DROP TABLE x"}


@pytest.mark.exhaustive
def test_no_record_that_says_where_it_goes_is_no_error(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=4), "{oops")
    keys = {"table.route.field": "kind", "table.name.format": f"{tables.namespace}.${{route}}", **TOLERANT}
    report = run_here(tables.config(topic, **keys))
    assert (report.records["dead_lettered"], tables.tables()) == (2, set())


def test_a_missing_table_is_an_error_that_says_how_it_is_created(run_here: Run, tables: Lake) -> None:
    with pytest.raises(ConfigError, match=r"there is no table .*: create it, or set `auto.create` to true"):
        run_here(tables.config(tables.topic(record(id=1)), **{"auto.create": "false"}))


def test_a_record_that_names_a_missing_table_is_a_bad_record(run_here: Run, tables: Lake) -> None:
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.a (id BIGINT, kind STRING) USING iceberg")
    topic = tables.topic(record(id=1, kind="a"), record(id=2, kind="mistyped"))
    keys = {"table.route.field": "kind", "table.name.format": f"{tables.namespace}.${{route}}", **TOLERANT}
    report = run_here(tables.config(topic, **keys, **{"auto.create": "false"}))
    assert (report.records["written"], report.records["dead_lettered"]) == (1, 1)
