"""A DAG that gives an operator a function: `connector=shop.prices.configured(...)`, in Airflow, with a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.kafka import read_values

pytestmark = [pytest.mark.spark_submit, pytest.mark.timeout(300)]

SHOP = '''
import json
from collections.abc import Iterator
from typing import Any

from airflow_kconnect.sdk import source

@source(key="sku", cursor="changed")
def prices(path: str, wanted: list[str]) -> Iterator[dict[str, Any]]:
    """Prices of a shop, in the order in which they change."""
    with open(path) as lines:
        yield from (price for price in map(json.loads, lines) if price["sku"] in wanted)
'''
DAG = """
import {shop} as shop

from airflow.sdk import DAG

from airflow_kconnect import KafkaSourceOperator

with DAG({dag_id!r}):
    KafkaSourceOperator(
        task_id="read",
        connector=shop.prices.configured("{topic}-source", path={path!r}, wanted=["tea", "jam"], topic={topic!r}),
    )
"""


def test_a_run_of_the_dag_moves_what_the_function_yields(
    airflow_database: Path, connections: None, bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, topic = unique("shop").replace("-", "_"), unique("prices")
    dags, prices = tmp_path / "dags", tmp_path / "prices.jsonl"
    dags.mkdir()
    (dags / f"{shop}.py").write_text(SHOP)
    monkeypatch.syspath_prepend(dags)  # as the folder of Airflow's DAGs is
    dag = add_dag(dags, DAG.format(shop=shop, dag_id=unique("dag"), topic=topic, path=str(prices)))
    rows = enumerate([("tea", 2), ("salt", 1), ("jam", 3)])
    prices.write_text(
        "".join(f"{json.dumps({'sku': sku, 'price': price, 'changed': n})}\n" for n, (sku, price) in rows)
    )
    run: Any = dag.test()
    assert run.state == "success"
    assert report_of(run, "read")["records"]["written"] == 2
    assert [json.loads(value or b"")["payload"]["sku"] for value in read_values(bootstrap, topic)] == ["tea", "jam"]
