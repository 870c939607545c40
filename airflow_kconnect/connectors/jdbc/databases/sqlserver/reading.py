"""Reading from SQL Server, by its documentation: its `datetime` counts 1/300 s, and is compared as what it is."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_kconnect.connectors.jdbc.source.columns import DATE_TYPE, Kind
from airflow_kconnect.connectors.jdbc.source.dialect import TextDialect, iso
from airflow_kconnect.connectors.jdbc.source.tables import Column

# microsoft.sql.Types.DATETIMEOFFSET
_ZONED = -155
_OLD_TYPES = {"datetime", "smalldatetime"}
# 1753-01-01, where those begin.
_FIRST = -6_847_804_800_000_000_000
_MS = 1_000_000
# The milliseconds, of ten, as which SQL Server and its driver show thirds of them.
_SHOWN_MS = (7, 3, 0)


class SqlServer(TextDialect):
    """SQL Server 2012 or newer."""

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        return Kind.INSTANT if column.jdbc_type == _ZONED else super().kind(column, numeric_mapping)

    def text(self, column: Column) -> str:
        return f"CAST({self.quote(column.name)} AS NVARCHAR(MAX))"

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        if kind in (Kind.WALL, Kind.INSTANT):
            return _as_text(self.wall(column)), "string"
        return super().select(column, kind)

    def cursor_nanoseconds(self, term: str) -> str:
        return _as_text(term)

    def wall(self, column: Column) -> str:
        name = self.quote(column.name)
        if column.jdbc_type == _ZONED:
            return f"CAST(SWITCHOFFSET({name}, '+00:00') AS DATETIME2)"
        return f"CAST({name} AS DATETIME2)" if column.jdbc_type == DATE_TYPE else name

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        """Of the columns' own type: how a `datetime` becomes a `datetime2` differs by version, and so then does order.

        In the form that no language of a session changes.
        """
        if nanoseconds >= _FIRST and {column.type_name.lower() for column in columns} <= _OLD_TYPES:
            rest = nanoseconds % (10 * _MS)
            shown = next(ms * _MS for ms in _SHOWN_MS if ms * _MS <= rest)
            return f"CAST('{iso(nanoseconds - rest + shown, 3).replace(' ', 'T')}' AS DATETIME)"
        return f"CAST('{iso(nanoseconds, 7).replace(' ', 'T')}' AS DATETIME2)"


def _as_text(term: str) -> str:
    """A timestamp in ISO form, which a cast gives only some of the types."""
    return f"CONVERT(VARCHAR(40), {term}, 121)"
