"""Tables that no longer have what a sink has written, in whole runs."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import DataError
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record


def test_a_table_that_was_dropped_is_not_created_again_with_a_gap(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=1))
    config = tables.config(topic)
    run_here(config)
    tables.spark.sql(f"DROP TABLE {tables.namespace}.{topic}")
    tables.add(topic, record(id=2))
    with pytest.raises(DataError, match=r"it is not there, and it took plan 1: it was restored, replaced or created"):
        run_here(config)


def test_a_table_that_was_created_again_has_no_plan(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(record(id=1))
    config = tables.config(topic)
    run_here(config)
    tables.spark.sql(f"DROP TABLE {tables.namespace}.{topic}")
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.{topic} (id BIGINT) USING iceberg")
    tables.add(topic, record(id=2))
    with pytest.raises(DataError, match="it has no plan of this connector, and it took plan 1"):
        run_here(config)


def test_a_table_that_is_not_written_any_more_may_be_dropped(run_here: Run, tables: Lake) -> None:
    one, other = tables.topic(record(id=1)), tables.topic(record(id=2))
    config = tables.config(one, other)
    run_here(config)
    tables.spark.sql(f"DROP TABLE {tables.namespace}.{other}")
    tables.add(one, record(id=3))
    assert run_here({**config, "topics": one}).records["written"] == 1
