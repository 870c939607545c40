"""MySQL and MariaDB: how far a table can be read so that no open transaction of InnoDB can still add rows before that.

InnoDB shows its open transactions, and not which tables they have written to: any of them could be about any table.

- Numbers: first the highest one is asked for, then which transactions have written or locked something. Only they can
  have written lower numbers that are not seen yet. When all of them are over, every row up to that number is seen.
- Timestamps: ``NOW()`` is when a statement began. No statement can write a time before H, if H is the beginning of the
  oldest transaction that has written something, or of the oldest statement that may write.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.connection import Database, Row
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.late_commits import Holder, Horizon, LateCommits, still_open
from airflow_kconnect.runs.warnings import Kind, RunWarning

_SECOND = 1_000_000_000
# What InnoDB shows can be 0.1 s old, and it shows a transaction a moment after the statement that begins it has taken
# its number and its time: a long one where processors are short.
_SHOWN_S = 1.0
_POLL_S = 0.2

_EPOCH = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {})"
# InnoDB tells local times of the server's machine. In an hour that comes twice the first one is meant.
_YESTERDAY = "UTC_TIMESTAMP() - INTERVAL 1 DAY"
_OFFSET = f"TIMESTAMPDIFF(SECOND, {_YESTERDAY}, CONVERT_TZ({_YESTERDAY}, '+00:00', 'SYSTEM'))"
_BEGUN = f"LEAST(CONVERT_TZ(trx_started, 'SYSTEM', '+00:00'), trx_started - INTERVAL {_OFFSET} SECOND)"
_TRANSACTIONS = f"""
SELECT CONCAT(trx_mysql_thread_id, ' ', IF(trx_mysql_thread_id = 0, trx_id, trx_started)), trx_mysql_thread_id,
  CAST(trx_started AS CHAR), {_EPOCH.format(_BEGUN)}
FROM information_schema.innodb_trx
WHERE trx_mysql_thread_id <> CONNECTION_ID()
  AND (trx_tables_locked > 0 OR trx_lock_structs > 0 OR trx_rows_modified > 0)
"""
# Threads of a replica that wait for days have the command Query, too. What they write is a transaction.
_STATEMENTS = f"""
SELECT CAST(id AS CHAR), id, CAST(UTC_TIMESTAMP() - INTERVAL time SECOND AS CHAR),
  {_EPOCH.format("UTC_TIMESTAMP(6) - INTERVAL time SECOND")}
FROM information_schema.processlist
WHERE command IN ('Query', 'Execute') AND id <> CONNECTION_ID() AND user <> 'system user'
  AND LOWER(COALESCE(info, '')) NOT REGEXP '^[[:space:]]*(/[*][^*]*[*]/[[:space:]]*)*(select|show|explain|commit)'
"""
_IS_REPLICA = """
SELECT @@innodb_read_only + (
  SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'system user' AND command <> 'Daemon') FROM DUAL
"""
_NODES = """
SHOW GLOBAL VARIABLES WHERE variable_name = 'wsrep_on' AND value = 'ON'
  OR variable_name = 'auto_increment_increment' AND value <> '1'
"""
_ENGINE = "SELECT engine FROM information_schema.tables WHERE table_schema = ? AND table_name = ?"
# Of the others a row is seen as soon as it is written, or they are not tables.
_SEEN = (None, "InnoDB", "MyISAM", "Aria", "MEMORY", "CSV", "ARCHIVE", "MRG_MyISAM")

_MISSED = "rows that are committed late can be missed. "
_DELAY = "set `timestamp.delay.interval.ms` in a mode with timestamps"
_NO_RIGHT = (
    f"`connection.user` may not see open transactions: {_MISSED}Grant it PROCESS (`GRANT PROCESS ON *.* TO ...`), or"
    f" {_DELAY}"
)
_REPLICA = (
    "the database is a replica, which gets rows in the order in which its primary commits: "
    f"{_MISSED}Read from the primary, or {_DELAY}"
)
_SEVERAL = (
    "rows are numbered by several servers, each with numbers of its own (`wsrep_on`, `auto_increment_increment`): rows"
    " with lower numbers can come later, and are missed. Use a mode with timestamps and `timestamp.delay.interval.ms`"
)
_OTHER_ENGINE = "{table} has the engine {engine}, whose open transactions do not show: " + _MISSED + _DELAY.capitalize()


class MySqlLateCommits(LateCommits):
    """Asks through a connection that holds no snapshot. A user who may not see open transactions waits for none.

    :param wait_ms: `late.commits.wait.ms`.
    """

    def __init__(self, db: Database, dialect: Dialect, wait_ms: int) -> None:
        self._db, self._dialect, self._wait_s = db, dialect, wait_ms / 1000
        self._sees = self._may_see()
        # At the beginning of the run, so that there is no need to wait later.
        self._clock, self._asked_at = dialect.now(db, None), time.monotonic()

    def _may_see(self) -> bool:
        try:
            self._db.rows(_TRANSACTIONS)
        except ConfigError:
            return False
        return True

    def is_replica(self) -> bool:
        """Never: where each of two servers is a replica of the other, this one's transactions count as well."""
        return False

    def blind_spots(self, sources: Sequence[Source]) -> list[RunWarning]:
        texts = [] if self._sees else [_NO_RIGHT]
        if self._sees and self._db.row(_IS_REPLICA)[0] != "0":
            texts.append(_REPLICA)
        if any(source.cursor.timestamp is None for source in sources) and self._db.rows(_NODES):
            texts.append(_SEVERAL)
        engines = {source.text: self._engine(source) for source in sources}
        texts += [_OTHER_ENGINE.format(table=table, engine=e) for table, e in engines.items() if e not in _SEEN]
        return [RunWarning(Kind.LOST, text) for text in texts]

    def _engine(self, source: Source) -> str | None:
        name = source.table.name
        rows = self._db.rows(_ENGINE, name.catalog or self._dialect.url.database or "", name.name) if name else []
        return rows[0][0] if rows else None

    def wait_for_writers(self, sources: Sequence[Source], *, prepared_only: bool = False) -> dict[str, Holder]:
        if not self._sees:
            return {}
        if not prepared_only:
            time.sleep(_SHOWN_S)
        waiting = {key: holder for key, holder in self._writers().items() if holder.pid is None or not prepared_only}
        left = still_open(waiting, self._writers, self._wait_s, _POLL_S)
        return {source.text: next(iter(left.values())) for source in sources} if left else {}

    def _writers(self) -> Mapping[str, Holder]:
        return {str(row[0]): _holder(row) for row in self._db.rows(_TRANSACTIONS)}

    def horizon(self, delay_ns: int) -> Horizon | Holder:
        # The clock was asked first: a statement that is not seen below has begun after that.
        time.sleep(max(0.0, self._asked_at + _SHOWN_S - time.monotonic()))
        oldest = Horizon(self._clock)
        # A statement that has ended between these two has a transaction, or has committed.
        rows = [*self._db.rows(_STATEMENTS), *self._db.rows(_TRANSACTIONS)] if self._sees else []
        for row in rows:
            # Both are whole seconds, and a transaction begins a moment after its first statement.
            begun = int(row[3] or 0) * 1000 - _SECOND
            if begun < oldest.instant:
                oldest = Horizon(begun, _holder(row))
        return replace(oldest, instant=oldest.instant - delay_ns)


def _holder(row: Row) -> Holder:
    key, thread, since, _ = row
    # A prepared transaction has no session any more, or had none before the server's restart.
    return (
        Holder(str(key), int(thread), since) if thread and thread != "0" else Holder(str(key).split()[-1], None, None)
    )
