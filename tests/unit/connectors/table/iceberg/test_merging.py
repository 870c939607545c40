"""The statement that merges rows by key."""

from __future__ import annotations

from airflow_kconnect.connectors.table.formats.iceberg.merging import merge_statement


def test_a_merge_without_deletions_updates_and_inserts() -> None:
    statement = merge_statement("lake.a.b", "v", ["id", "name"], ["id"], None, [])
    assert statement == (
        "MERGE INTO lake.a.b AS t USING v AS s ON t.`id` = s.`id`"
        " WHEN MATCHED THEN UPDATE SET t.`name` = s.`name`"
        " WHEN NOT MATCHED THEN INSERT (`id`, `name`) VALUES (s.`id`, s.`name`)"
    )


def test_a_merge_with_deletions_does_not_insert_what_is_deleted() -> None:
    statement = merge_statement("t", "v", ["id", "name"], ["id"], "gone", [])
    assert "WHEN MATCHED AND s.`gone` THEN DELETE WHEN MATCHED THEN UPDATE" in statement
    assert "WHEN NOT MATCHED AND s.`gone` IS NOT TRUE THEN INSERT" in statement


def test_nulls_in_optional_keys_are_the_same_key() -> None:
    assert "t.`a` = s.`a` AND t.`b` <=> s.`b`" in merge_statement("t", "v", ["a", "b", "c"], ["a", "b"], None, ["b"])


def test_a_table_of_keys_alone_has_nothing_to_update() -> None:
    assert "UPDATE" not in merge_statement("t", "v", ["a"], ["a"], None, [])


def test_names_are_quoted() -> None:
    assert "t.`a``b` = s.`a``b`" in merge_statement("t", "v", ["a`b"], ["a`b"], None, [])
