"""PostgreSQL: how far a table can be read so that no open transaction can still add rows before that point.

Numbers and timestamps are given when a row is written, but seen when its transaction commits. A reader that goes by
the highest one that it sees misses rows which are committed later.

- Numbers: first the highest one is asked for, then which transactions hold a write lock on the table or its sequences.
  Only they can have written, or will write, lower numbers that are not seen yet. When all of them are over, a new
  snapshot has every row up to that number.
- Timestamps: no transaction that began later than H can write ``now()`` of before H. H is the beginning of the oldest
  open transaction, or the clock if there is none.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from airflow_kconnect.connectors.jdbc.driver.connection import Database, Row
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.late_commits import Holder, Horizon, LateCommits, still_open
from airflow_kconnect.runs.warnings import Kind, RunWarning

READER = "kconnect reader"
"""Name of the sessions that only read: there is no need to wait for them."""

_POLL_S = 0.05
# A transaction shows its beginning a moment after it has taken it: a long one where processors are short.
_SHOWN_S = 1.0

# The table, its partitions, the tables below a view, and the sequences of them all.
_RELATIONS = """
WITH RECURSIVE related(oid) AS (
  SELECT to_regclass(?)::oid
  UNION
  SELECT next.oid FROM related, LATERAL (
    SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = related.oid
    UNION ALL
    SELECT d.refobjid FROM pg_rewrite w JOIN pg_depend d ON d.objid = w.oid AND d.classid = 'pg_rewrite'::regclass
      AND d.refclassid = 'pg_class'::regclass WHERE w.ev_class = related.oid
    UNION ALL
    SELECT s.oid FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
      WHERE d.refobjid = related.oid AND d.refclassid = 'pg_class'::regclass AND d.classid = 'pg_class'::regclass
    UNION ALL
    SELECT s.oid FROM pg_attrdef f JOIN pg_depend d ON d.objid = f.oid AND d.classid = 'pg_attrdef'::regclass
      AND d.refclassid = 'pg_class'::regclass JOIN pg_class s ON s.oid = d.refobjid AND s.relkind = 'S'
      WHERE f.adrelid = related.oid
  ) next
)
SELECT string_agg(oid::text, ',') FROM related
"""
_WRITERS = """
SELECT l.virtualtransaction, min(l.pid), min(a.xact_start)::text, min(p.gid)
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_locks x ON l.pid IS NULL AND x.virtualtransaction = l.virtualtransaction AND x.locktype = 'transactionid'
LEFT JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
  AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND CASE WHEN ? = '' THEN l.relation >= 16384 ELSE l.relation::text = ANY(string_to_array(?, ',')) END
GROUP BY 1
"""
# Of sessions that the user may not look into, only their transaction's number is shown, in pg_locks.
_TRANSACTIONS = f"""
SELECT l.virtualtransaction, a.pid, a.xact_start::text, (extract(epoch FROM a.xact_start) * 1000000)::bigint
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'virtualxid' AND l.granted AND a.pid <> pg_backend_pid()
  AND (a.datname = current_database() OR a.datname IS NULL)
  AND NOT (a.application_name = '{READER}' AND a.usesysid IS NOT DISTINCT FROM
    (SELECT oid FROM pg_roles WHERE rolname = current_user))
  AND coalesce(a.backend_type, '') NOT IN ('autovacuum worker', 'autovacuum launcher', 'walsender', 'walwriter',
    'checkpointer', 'background writer', 'startup', 'archiver')
"""
# Foreign tables, and those that a subscription fills (maybe through their partitioned table).
_ELSEWHERE = """
SELECT c.oid::regclass::text, CASE c.relkind WHEN 'f' THEN 'foreign' ELSE 'subscribed' END FROM pg_class c
WHERE (c.relkind = 'f' OR c.oid IN (SELECT srrelid FROM pg_subscription_rel))
  AND CASE WHEN ? = '' THEN true ELSE EXISTS (
    SELECT FROM unnest(string_to_array(?, ',')::oid[]) AS relation (oid)
    WHERE c.oid = relation.oid OR c.oid IN (SELECT pg_partition_ancestors(relation.oid)::oid)) END
ORDER BY 1
"""
_BLIND = {
    "subscribed": "{tables} gets rows by logical replication, in the order in which the publisher commits"
    ": rows that are committed late there can be missed. Set `timestamp.delay.interval.ms` in a mode"
    " with timestamps, or read from the publisher",
    "foreign": "{tables} is a foreign table, and open transactions of its own database do not show here: rows that are"
    " committed late can be missed. Set `timestamp.delay.interval.ms` in a mode with timestamps, or read from that"
    " database",
}


class PostgresLateCommits(LateCommits):
    """Asks through a connection that holds no snapshot.

    :param wait_ms: `late.commits.wait.ms`.
    """

    def __init__(self, db: Database, dialect: Dialect, wait_ms: int) -> None:
        self._db, self._wait_s = db, wait_ms / 1000
        # At the beginning of the run, so that there is no need to wait later.
        self._clock, self._asked_at = dialect.now(db, None), time.monotonic()

    def is_replica(self) -> bool:
        return self._db.row("SELECT pg_is_in_recovery()")[0] == "t"

    def blind_spots(self, sources: Sequence[Source]) -> list[RunWarning]:
        tables_by_kind: dict[str, list[str]] = {}
        for source in sources:
            relations = self._relations(source)
            for table, kind in self._db.rows(_ELSEWHERE, relations, relations):
                tables_by_kind.setdefault(str(kind), []).append(str(table))
        return [
            RunWarning(Kind.LOST, _BLIND[kind].format(tables=", ".join(dict.fromkeys(tables))))
            for kind, tables in tables_by_kind.items()
        ]

    def wait_for_writers(self, sources: Sequence[Source], *, prepared_only: bool = False) -> dict[str, Holder]:
        relations = {source.text: self._relations(source) for source in sources}
        waiting = {table: self._writers(oids) for table, oids in relations.items()}
        if prepared_only:
            waiting = {t: {k: h for k, h in writers.items() if h.pid is None} for t, writers in waiting.items()}
        deadline = time.monotonic() + self._wait_s
        while waiting := {table: holders for table, holders in waiting.items() if holders}:
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_S)
            waiting = {table: _still(old, self._writers(relations[table])) for table, old in waiting.items()}
        return {table: next(iter(holders.values())) for table, holders in waiting.items()}

    def _relations(self, source: Source) -> str:
        """Object ids; nothing means every table, as of a query that could name any."""
        return "" if source.table.name is None else str(self._db.row(_RELATIONS, source.relation)[0] or "")

    def _writers(self, relations: str) -> dict[str, Holder]:
        return {
            str(transaction): Holder(str(transaction), int(pid) if pid else None, since or prepared)
            for transaction, pid, since, prepared in self._db.rows(_WRITERS, relations, relations)
        }

    def horizon(self, delay_ns: int) -> Horizon | Holder:
        # The clock was asked first: a transaction that is not seen below has begun after that.
        time.sleep(max(0.0, self._asked_at + _SHOWN_S - time.monotonic()))
        rows = self._db.rows(_TRANSACTIONS)
        hidden = {str(row[0]): Holder(str(row[0]), int(row[1] or 0), None) for row in rows if row[3] is None}
        if left := still_open(hidden, self._open, self._wait_s, _POLL_S):
            return next(iter(left.values()))
        oldest = Horizon(self._clock)
        for transaction, pid, since, micros in rows:
            begun = int(micros) * 1000 if micros else oldest.instant
            if begun < oldest.instant:
                oldest = Horizon(begun, Holder(str(transaction), int(pid or 0), since))
        # Another clock is as wrong at the beginning of a transaction as it is now.
        return replace(oldest, instant=oldest.instant - delay_ns)

    def _open(self) -> dict[str, Row]:
        return {str(row[0]): row for row in self._db.rows(_TRANSACTIONS)}


def _still(old: Mapping[str, Holder], now: Mapping[str, Any]) -> dict[str, Holder]:
    return {transaction: holder for transaction, holder in old.items() if transaction in now}
