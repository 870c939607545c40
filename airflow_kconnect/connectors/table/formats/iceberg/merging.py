"""How rows are merged by key: which statement does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.table.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import types as T


def merge_statement(
    table: str, source: str, columns: Sequence[str], keys: Sequence[str], deleted: str | None, optional: Sequence[str]
) -> str:
    """`MERGE INTO` of Spark's SQL.

    :param table: the table's identifier. :param source: name of the view with the rows, one per key.
    :param columns: those of the rows, without `deleted`.
    :param deleted: see `Table.merge`.
    :param optional: the keys that may be null in the table: two nulls are the same key.
    """
    same = [f"t.{quoted(key)} {'<=>' if key in optional else '='} s.{quoted(key)}" for key in keys]
    others = [column for column in columns if column not in keys]
    clauses = [f"MERGE INTO {table} AS t USING {source} AS s ON {' AND '.join(same)}"]
    if deleted is not None:
        clauses.append(f"WHEN MATCHED AND s.{quoted(deleted)} THEN DELETE")
    if others:
        clauses.append(
            f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{quoted(name)} = s.{quoted(name)}' for name in others)}"
        )
    kept = "" if deleted is None else f" AND s.{quoted(deleted)} IS NOT TRUE"
    names, values = ", ".join(map(quoted, columns)), ", ".join(f"s.{quoted(name)}" for name in columns)
    clauses.append(f"WHEN NOT MATCHED{kept} THEN INSERT ({names}) VALUES ({values})")
    return " ".join(clauses)


def optional_keys(columns: T.StructType, keys: Sequence[str]) -> list[str]:
    """The keys that may be null."""
    return [key for key in keys if columns[key].nullable]
