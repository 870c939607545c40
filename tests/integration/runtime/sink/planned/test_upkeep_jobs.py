"""Jobs that look after the tables of a sink: which tables these are, and that no run notices."""

from __future__ import annotations

from airflow_kconnect.connect.connector.upkeep import Step, Upkeep
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record


def test_all_tables_that_a_connector_has_written_to_are_compacted_and_its_next_run_resumes(
    run_here: Run, tables: Lake, worker_props: dict[str, str]
) -> None:
    orders, users = tables.topic(record(id=1)), tables.topic(record(id=2))
    config = tables.config(orders, users)
    run_here(config)
    tables.spark.range(10, 14, numPartitions=4).writeTo(f"{tables.namespace}.{orders}").append()

    spec = RunSpec(config, worker_props, upkeep=Upkeep([Step.COMPACT, Step.EXPIRE], wait_s=0))
    report = run(spec, tables.spark.newSession())

    done = {name.rpartition(".")[2].strip("`"): facts for name, facts in report.notes["upkeep"].items()}
    assert {name: facts["files"] for name, facts in done.items()} == {orders: [5, 1], users: 1}
    assert (report.kind, report.warnings) == ("upkeep", [])
    tables.add(orders, record(id=20))
    assert run_here(config).records["written"] == 1
    assert sorted(row.id for row in tables.rows(orders, "id")) == [1, *range(10, 14), 20]
