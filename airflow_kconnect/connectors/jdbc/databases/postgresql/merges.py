"""SQL of PostgreSQL's upserts: temporary tables, how they are merged, and when they are not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connectors.jdbc.sink.config import INSERT, UPSERT
from airflow_kconnect.connectors.jdbc.sink.layouts import DELETED, UPSERTED, RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table

if TYPE_CHECKING:
    from airflow_kconnect.connectors.jdbc.sink.target import Target

OFFSET, OPERATION = "kconnect_offset", "kconnect_operation"
"""Columns of the temporary tables in front of the rows' own."""

# COPY ignores rules, and sets identities that an INSERT must not set.
HAS_UNIQUE_KEY = """
    SELECT EXISTS (
        SELECT FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indrelid AND c.relkind IN ('r', 'p') AND NOT c.relhasrules
        WHERE i.indrelid = to_regclass(%(table)s) AND i.indisunique AND i.indimmediate AND i.indisvalid
        AND i.indpred IS NULL AND i.indexprs IS NULL
        AND (
            SELECT array_agg(attname::text ORDER BY attname::text COLLATE "C") FROM pg_attribute
            WHERE attrelid = i.indrelid AND attnum = ANY (i.indkey[0:i.indnkeyatts - 1])
        ) = %(keys)s::text[]
    ) AND NOT EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass(%(table)s) AND attidentity = 'a' AND attname = ANY (%(names)s::text[])
    )
"""
"""Whether a table refuses by itself what an upsert would replace, and a COPY does what an INSERT does.

Parameters are the quoted table, the sorted columns of the key, and all columns that are given.
"""


def stage_statement(target: Target, table: Table, stage: str, layout: RowLayout) -> str:
    """A temporary table for rows of a layout, without the table's constraints: a deletion has nothing but the key."""
    return (
        f"CREATE TEMPORARY TABLE {target.quote(stage)} ON COMMIT DROP AS "
        f"SELECT 0::bigint AS {OFFSET}, ''::text AS {OPERATION}, {target.listed(layout.names)} "
        f"FROM {target.quoted(table)} WITH NO DATA"
    )


def merge_statements(target: Target, table: Table, stage: str, layout: RowLayout) -> list[str]:
    """From the temporary table into the table: deletions, then what is left of each key."""
    settings = target.settings
    into, source = target.quoted(table), target.quote(stage)
    keys, names = target.listed(layout.keys), target.listed(layout.names)
    same_key = " AND ".join(f"t.{target.quote(name)} = s.{target.quote(name)}" for name in layout.keys)
    changes = ", ".join(f"{target.quote(name)} = s.{target.quote(name)}" for name in layout.others)
    last = (
        f"(SELECT * FROM (SELECT DISTINCT ON ({keys}) * FROM {source} ORDER BY {keys}, {OFFSET} DESC) AS last "
        f"WHERE {OPERATION} = '{UPSERTED}')"
    )
    deletions = f"(SELECT DISTINCT {keys} FROM {source} WHERE {OPERATION} = '{DELETED}')"
    statements = [f"DELETE FROM {into} AS t USING {deletions} AS s WHERE {same_key}"] if settings.deletes else []
    if layout.delete:
        return statements
    if settings.insert_mode == UPSERT:
        on_conflict = ", ".join(f"{target.quote(name)} = EXCLUDED.{target.quote(name)}" for name in layout.others)
        then = f"UPDATE SET {on_conflict}" if on_conflict else "NOTHING"
        statements.append(
            f"INSERT INTO {into} ({names}) SELECT {names} FROM {last} AS s ON CONFLICT ({keys}) DO {then}"
        )
    elif settings.insert_mode == INSERT:
        later = f"t.{OPERATION} = '{DELETED}' AND t.{OFFSET} > s.{OFFSET} AND {same_key}"
        statements.append(
            f"INSERT INTO {into} ({names}) SELECT {names} FROM {source} AS s WHERE s.{OPERATION} = '{UPSERTED}' "
            f"AND NOT EXISTS (SELECT FROM {source} AS t WHERE {later}) ORDER BY s.{OFFSET}"
        )
    elif changes:
        statements.append(f"UPDATE {into} AS t SET {changes} FROM {last} AS s WHERE {same_key}")
    return statements
