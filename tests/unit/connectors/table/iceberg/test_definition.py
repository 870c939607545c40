"""What a new Iceberg table is."""

from __future__ import annotations

from pyspark.sql import types as T

from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.definition import identified, properties_of

COLUMNS = T.StructType([T.StructField("id", T.LongType()), T.StructField("name", T.StringType())])


def test_columns_of_the_key_are_not_nullable() -> None:
    found = identified(COLUMNS, ["id"])
    assert [field.nullable for field in found.fields] == [False, True]


def test_a_key_that_iceberg_cannot_have_changes_nothing() -> None:
    columns = T.StructType([T.StructField("id", T.DoubleType()), T.StructField("name", T.StringType())])
    assert identified(columns, ["id"]) == columns


def test_staging_is_always_possible() -> None:
    assert properties_of(TableDefinition(COLUMNS, properties={"write.wap.enabled": "false"})) == {
        "write.wap.enabled": "true"
    }


def test_tables_with_keys_merge_on_read_unless_they_are_to_copy_on_write() -> None:
    assert properties_of(TableDefinition(COLUMNS, ("id",)))["write.merge.mode"] == "merge-on-read"
    chosen = {"write.merge.mode": "copy-on-write"}
    assert properties_of(TableDefinition(COLUMNS, ("id",), properties=chosen))["write.merge.mode"] == "copy-on-write"


def test_a_variant_anywhere_needs_format_version_3() -> None:
    nested = T.StructType([T.StructField("a", T.ArrayType(T.StructType([T.StructField("v", T.VariantType())])))])
    assert properties_of(TableDefinition(nested))["format-version"] == "3"
    assert "format-version" not in properties_of(TableDefinition(COLUMNS))
