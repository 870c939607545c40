"""Protobuf with a schema registry, from end to end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique


def test_a_table_becomes_files(registry_url: str, run_here: Run, tmp_path: Path) -> None:
    path, prefix = tmp_path / "shop.sqlite", f"{unique('t')}-"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table orders (id integer primary key, item text not null)")
        connection.execute("insert into orders (item) values ('tea'), ('jam')")
    converter = {
        "value.converter": "io.confluent.connect.protobuf.ProtobufConverter",
        "value.converter.schema.registry.url": registry_url,
    }
    source = {
        "name": unique("source"),
        "connector.class": "JdbcSource",
        "connection.url": f"jdbc:sqlite:{path}",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
    }
    sink = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(tmp_path / "out"),
        "topics": f"{prefix}orders",
    }

    run_here(source | converter)
    run_here(sink | converter)

    assert lines(sink) == [{"id": 1, "item": "tea"}, {"id": 2, "item": "jam"}]
