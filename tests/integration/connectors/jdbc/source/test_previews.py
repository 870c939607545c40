"""Previews of rows that a JDBC source would read next."""

from __future__ import annotations

import json

import pytest

from tests.integration.connectors.jdbc.conftest import SourceConfig
from tests.integration.runtime.conftest import Preview, Run
from tests.support.databases.postgres import PostgresDatabase


@pytest.mark.exhaustive
def test_the_next_rows_of_tables(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, preview_here: Preview
) -> None:
    """From the committed offsets on; of a whole table its first rows."""
    db.execute("CREATE TABLE orders (id bigserial PRIMARY KEY, total numeric(8, 2))")
    db.execute("INSERT INTO orders (total) SELECT n FROM generate_series(1, 50) n")
    config = jdbc_source(db, **{"table.whitelist": "orders", "kconnect.max.records": "20"})
    run_here(config)
    value = {"transforms": "total", "transforms.total.type": "ExtractField$Value", "transforms.total.field": "total"}
    records = preview_here({**config, **value}, 2)["records"]
    assert [[json.loads(step["value"]) for step in steps] for steps in records] == [
        [{"id": 21, "total": 21.00}, 21.00],
        [{"id": 22, "total": 22.00}, 22.00],
    ]
    assert run_here({**config, "kconnect.max.records": "100"}).records["written"] == 30
    copied = {key: text for key, text in config.items() if key != "kconnect.max.records"} | {"mode": "bulk"}
    assert len(preview_here(copied, 2)["records"]) == 2
