"""Whether PostgreSQL has sent a slot's reader everything that was in the WAL at some moment.

A reader cannot know: what is not captured is decoded by the server and never sent, which may take minutes in which
nothing arrives.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow_kconnect.stores.positions.slot import SlotAddress, connect, translated

log = logging.getLogger(__name__)

_NOW = "select case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end::text"
# `sent_lsn` is how far the server has decoded; the confirmed position may be further if it was set by hand.
_SENT = """
select coalesce(greatest(r.sent_lsn, s.confirmed_flush_lsn) >= %s::pg_lsn, false)
from pg_replication_slots s left join pg_stat_replication r on r.pid = s.active_pid where s.slot_name = %s
"""


class SlotGoal:
    """The end of the WAL when this object was made, and whether the reader of a slot was sent everything up to it.

    :raises ConfigError: psycopg is missing, or the server refuses the user or the database.
    :raises RetriableError: the server is unavailable.
    """

    def __init__(self, address: SlotAddress) -> None:
        self._address = address
        self._connection: Any = connect(address)
        self.lsn: str = self._connection.execute(_NOW).fetchall()[0][0]

    def is_sent(self) -> bool:
        """Whether everything up to the goal was sent; where the server cannot be asked any more, yes."""
        import psycopg

        try:
            row = self._connection.execute(_SENT, (self.lsn, self._address.slot)).fetchone()
        except psycopg.Error as error:
            log.warning("The position of the slot is unknown: %s", translated(error, self._address))
            return True
        return row is None or bool(row[0])

    def close(self) -> None:
        """End the connection."""
        self._connection.close()
