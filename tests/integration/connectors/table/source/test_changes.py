"""What has changed in tables between two states, in all the ways in which formats keep it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.source.change_logs import KIND, ORDER
from airflow_kconnect.connectors.table.source.config import CHANGES, DELETIONS, REWRITES, SourceSettings
from airflow_kconnect.connectors.table.source.rows import SourceTable
from tests.support import unique

_MODES = ("write.delete.mode", "write.update.mode", "write.merge.mode")
_ICEBERG = {"format-version": "2", **dict.fromkeys(_MODES, "merge-on-read")}
PROPERTIES = {
    "iceberg, copy on write": dict.fromkeys(_MODES, "copy-on-write"),
    "iceberg, position deletes": _ICEBERG,
    "iceberg, deletion vectors": {**_ICEBERG, "format-version": "3"},
    "delta": {"delta.enableChangeDataFeed": "true"},
    "delta, deletion vectors": {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"},
}
Found = list[tuple[str, tuple[Any, ...]]]


class Read:
    """A table, and what has changed in it since it was read last."""

    def __init__(self, spark: SparkSession, lake: str, kind: str, columns: str = "id BIGINT, name STRING") -> None:
        self.format, name = kind.partition(",")[0], unique("t").replace("-", "_")
        self.spark, self.table = spark, f"{lake}.db.{name}" if self.format == "iceberg" else f"default.{name}"
        self.properties = ", ".join(f"'{key}'='{text}'" for key, text in PROPERTIES[kind].items())
        self.sql(f"CREATE TABLE {{t}} ({columns}) USING {self.format} TBLPROPERTIES ({self.properties})")
        self.at: int | None = None

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.replace("{t}", self.table))

    def call(self, procedure: str, arguments: str = "") -> None:
        catalog, _, table = self.table.partition(".")
        self.sql(f"CALL {catalog}.system.{procedure}(table => '{table}'{arguments})")

    def _opened(self, *keys: str, skipped: Collection[str] = ()) -> SourceTable:
        settings = SourceSettings(self.format, CHANGES, "topic", self.table, keys=keys, skipped=frozenset(skipped))
        return SourceTable(self.spark, settings, "test")

    def reached(self, *statements: str) -> Read:
        """Everything that is there, and what these statements do, counts as read."""
        self.sql(*statements)
        self.at = self._opened().present()
        return self

    def changed(self, *keys: str, skipped: Collection[str] = ()) -> Found:
        """What has happened since, by key."""
        source = self._opened(*keys, skipped=skipped)
        assert self.at is not None and source.log is not None
        end = source.present()
        assert end is not None
        rows = source.parts(source.between(self.at, end, None), 2, [0, 1]).drop(ORDER)
        found = [(row[KIND], tuple(row[name] for name in rows.columns if name != KIND)) for row in rows.collect()]
        source.log.finished()
        return sorted(found, key=lambda change: str(change[1][0]))


# Where formats differ, two that have little in common. The feed of Delta says nothing of deletion vectors; tasks of
# Iceberg have position deletes and vectors in one list.
_OFTEN = ("iceberg, deletion vectors", "delta")
_LIKE_OTHERS = ("iceberg, position deletes", "delta, deletion vectors")


def exhaustive(kind: str) -> Any:
    return pytest.param(kind, marks=pytest.mark.exhaustive)


# What is done to the changes of any format, and what Delta's own feed answers.
_of_any_format = pytest.mark.parametrize(
    "read", [_OFTEN[0], *(exhaustive(kind) for kind in PROPERTIES if kind != _OFTEN[0])], indirect=True
)


@pytest.fixture(params=[kind if kind in _OFTEN else exhaustive(kind) for kind in PROPERTIES])
def read(request: pytest.FixtureRequest, spark: SparkSession, lake: str) -> Read:
    return Read(spark, lake, request.param)


@pytest.mark.parametrize("kind", [exhaustive(kind) if kind in _LIKE_OTHERS else kind for kind in PROPERTIES])
def test_updates_deletions_and_new_rows_are_told_and_nothing_else(spark: SparkSession, lake: str, kind: str) -> None:
    read = Read(spark, lake, kind)
    read.reached("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'old' FROM range(6)")
    read.sql(
        "UPDATE {t} SET name = 'new' WHERE id = 1", "DELETE FROM {t} WHERE id = 2", "INSERT INTO {t} VALUES (9, 'x')"
    )
    assert read.changed("id") == [("u", (1, "new")), ("d", (2, "old")), ("u", (9, "x"))]


@_of_any_format
def test_a_row_that_gets_another_key_is_deleted_under_the_old_one(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')").sql("UPDATE {t} SET id = 7 WHERE id = 1")
    assert read.changed("id") == [("d", (1, "a")), ("u", (7, "a"))]


@_of_any_format
def test_rows_that_are_written_again_as_they_were_are_no_changes(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    read.sql("INSERT OVERWRITE {t} VALUES (1, 'a'), (2, 'B'), (3, 'c')")
    assert read.changed("id") == [("u", (2, "B")), ("u", (3, "c"))]


@_of_any_format
def test_compaction_changes_nothing(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a')", "INSERT INTO {t} VALUES (2, 'b'), (3, 'c')")
    read.sql("UPDATE {t} SET name = 'B' WHERE id = 2")
    if read.format == "iceberg":
        read.call("rewrite_data_files", ", options => map('rewrite-all', 'true')")
    else:
        read.sql("OPTIMIZE {t}")
    read.sql("INSERT INTO {t} VALUES (4, 'd')")
    assert read.changed("id") == [("u", (2, "B")), ("u", (4, "d"))]


@_of_any_format
def test_a_table_that_was_brought_back_has_changed_that_way(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    first = read.at
    read.reached("INSERT INTO {t} VALUES (3, 'c')", "UPDATE {t} SET name = 'B' WHERE id = 2")
    if read.format == "iceberg":
        read.call("rollback_to_snapshot", f", snapshot_id => {first}")
    else:
        read.sql(f"RESTORE {{t}} TO VERSION AS OF {first}")
    read.sql("INSERT INTO {t} VALUES (4, 'd')")
    assert read.changed("id") == [("u", (2, "b")), ("d", (3, "c")), ("u", (4, "d"))]


@_of_any_format
def test_a_table_that_was_replaced_has_changed_that_way(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    read.sql(
        f"CREATE OR REPLACE TABLE {{t}} USING {read.format} TBLPROPERTIES ({read.properties})"
        " AS SELECT 2L AS id, 'b' AS name UNION ALL SELECT 3L, 'c'"
    )
    assert read.changed("id") == [("d", (1, "a")), ("u", (3, "c"))]


@_of_any_format
def test_new_columns_are_read_with_the_rows_before_them(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    read.sql("UPDATE {t} SET name = 'A' WHERE id = 1", "ALTER TABLE {t} ADD COLUMN n BIGINT")
    read.sql("INSERT INTO {t} VALUES (5, 'e', 7)", "UPDATE {t} SET n = 8 WHERE id = 2")
    assert read.changed("id") == [("u", (1, "A", None)), ("u", (2, "b", 8)), ("u", (5, "e", 7))]


@pytest.mark.parametrize(
    "kind", [pytest.param("iceberg, copy on write", marks=pytest.mark.exhaustive), "iceberg, deletion vectors"]
)
def test_columns_of_a_wider_type_are_read_with_the_rows_before_them(spark: SparkSession, lake: str, kind: str) -> None:
    read = Read(spark, lake, kind, "id INT, n INT").reached("INSERT INTO {t} VALUES (1, 1), (2, 2)")
    read.sql("UPDATE {t} SET n = 3 WHERE id = 1", "ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT")
    read.sql("ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT", "INSERT INTO {t} VALUES (5, 5000000000)")
    assert read.changed("id") == [("u", (1, 3)), ("u", (5, 5_000_000_000))]


@_of_any_format
def test_without_keys_rows_are_read_that_were_added_after_deletions(read: Read) -> None:
    read.reached("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')", "DELETE FROM {t} WHERE id = 1")
    read.sql("INSERT INTO {t} VALUES (3, 'c')")
    assert read.changed() == [("u", (3, "c"))]


def test_commits_that_change_rows_can_be_skipped(read: Read) -> None:
    read.reached("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'a' FROM range(3)")
    read.sql(
        "INSERT INTO {t} VALUES (3, 'c')", "DELETE FROM {t} WHERE id = 1", "UPDATE {t} SET name = 'b' WHERE id = 2"
    )
    assert read.changed(skipped=(DELETIONS, REWRITES)) == [("u", (3, "c"))]


@pytest.mark.parametrize("kind", [_OFTEN[0], exhaustive(_OFTEN[1])])
def test_columns_with_dots_and_those_that_cannot_be_compared_are_read(
    spark: SparkSession, lake: str, kind: str
) -> None:
    read = Read(spark, lake, kind, "`a.b` BIGINT, `n.` MAP<STRING, INT>, data VARIANT")
    read.reached("INSERT INTO {t} VALUES (1, map('a', 1), parse_json('[1]')), (2, null, null)")
    read.sql("UPDATE {t} SET `n.` = map('a', 2) WHERE `a.b` = 1")
    assert [(kind, row[:2]) for kind, row in read.changed("a.b")] == [("u", (1, {"a": 2}))]


@_of_any_format
def test_a_renamed_key_is_an_error_of_its_key(read: Read) -> None:
    if read.format == "delta":
        read.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode'='name')")
    read.reached("INSERT INTO {t} VALUES (1, 'a')").sql("ALTER TABLE {t} RENAME COLUMN id TO number")
    read.sql("INSERT INTO {t} VALUES (2, 'b')")
    with pytest.raises(ConfigError, match=r"pk\.fields`: id: table .* has no such column; it has number, name"):
        read.changed("id")
