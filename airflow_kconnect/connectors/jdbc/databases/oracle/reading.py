"""Reading from Oracle, by its documentation: its dates have a time of day, and are compared as what they are."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.dialect import TextDialect, coalesced, iso
from airflow_kconnect.connectors.jdbc.source.tables import Column

_SECONDS = len("2020-01-31 12:00:00")


class Oracle(TextDialect):
    """Oracle 12.2 or newer."""

    def text(self, column: Column) -> str:
        return f"CAST({self.quote(column.name)} AS VARCHAR2(4000))"

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        if kind is Kind.WALL:
            return _as_text(self.quote(column.name)), "string"
        return super().select(column, kind)

    def cursor_timestamp(self, columns: Sequence[Column]) -> str:
        # A date that is compared with a timestamp would become one, and its index would be of no use.
        if _are_dates(columns):
            return coalesced([self.quote(column.name) for column in columns])
        return super().cursor_timestamp(columns)

    def wall(self, column: Column) -> str:
        name = self.quote(column.name)
        return f"CAST({name} AS TIMESTAMP)" if _are_dates([column]) else name

    def cursor_nanoseconds(self, term: str) -> str:
        return _as_text(term)

    def literal(self, columns: Sequence[Column], nanoseconds: int) -> str:
        if _are_dates(columns):
            return f"TO_DATE('{iso(nanoseconds)[:_SECONDS]}', 'YYYY-MM-DD HH24:MI:SS')"
        return super().literal(columns, nanoseconds)


def _are_dates(columns: Sequence[Column]) -> bool:
    """Whether all are of the type DATE, which the driver calls a timestamp."""
    return all(column.type_name == "DATE" for column in columns)


def _as_text(term: str) -> str:
    """A timestamp or date in ISO form: a cast would give the form of the session."""
    return f"LTRIM(TO_CHAR(CAST({term} AS TIMESTAMP(9)), 'SYYYY-MM-DD HH24:MI:SS.FF9'))"
