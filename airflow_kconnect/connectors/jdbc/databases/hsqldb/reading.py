"""Reading from HSQLDB, whose driver loses times in the zone of its JVM, and identity columns in sub-selects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.columns import BIT, DATE_TYPE, TIMESTAMP_ZONED, Kind
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect, coalesced
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName

_IDENTITIES = """
SELECT column_name FROM information_schema.columns
WHERE is_identity = 'YES' AND table_schema = ? AND table_name = ?
"""
_LONGEST = 40
"""Characters that the text of a timestamp or a UUID has at most, and more."""


class Hsqldb(Dialect):
    """HSQLDB 2.7. Timestamps leave it as texts, as its driver takes them for times in the zone of the JVM."""

    def table(self, db: Database, name: TableName) -> Table:
        table = super().table(db, name)
        counted = {column for (column,) in db.rows(_IDENTITIES, name.schema or "PUBLIC", name.name)}
        columns = tuple(replace(column, auto_increment=column.name in counted) for column in table.columns)
        return replace(table, columns=columns)

    def now(self, db: Database, zone: ZoneInfo | None) -> int:
        return int(db.row("VALUES UNIX_MILLIS()")[0] or 0) * 1_000_000

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        if column.type_name == "UUID":
            return Kind.STRING
        if column.jdbc_type == BIT and (column.precision != 1 or column.type_name != "BIT"):
            return None
        return super().kind(column, numeric_mapping)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        name = self.quote(column.name)
        match kind:
            case Kind.WALL | Kind.INSTANT:
                return _text(self._wall(column)), "string"
            case Kind.TIME:
                # The driver would leave out the fraction.
                whole = f"EXTRACT(HOUR FROM {name}) * 3600000 + EXTRACT(MINUTE FROM {name}) * 60000"
                return f"{whole} + CAST(EXTRACT(SECOND FROM {name}) * 1000 AS INTEGER)", "bigint"
            case Kind.STRING if column.type_name == "UUID":
                return _text(name), None
        return super().select(column, kind)

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        return coalesced([self._wall(column) for column in columns])

    def _wall(self, column: Column) -> str:
        """A timestamp without a zone; of one that knows its zone it is that in UTC."""
        name = self.quote(column.name)
        if column.jdbc_type == TIMESTAMP_ZONED:
            return f"CAST({name} AT TIME ZONE INTERVAL '0:00' HOUR TO MINUTE AS TIMESTAMP(9))"
        return f"CAST({name} AS TIMESTAMP)" if column.jdbc_type == DATE_TYPE else name

    def cursor_nanoseconds(self, term: str) -> str:
        return _text(term)


def _text(term: str) -> str:
    return f"CAST({term} AS VARCHAR({_LONGEST}))"
