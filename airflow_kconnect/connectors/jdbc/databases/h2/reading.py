"""Reading from H2, whose driver tells no type for some texts, and casts timestamps in the zone of the session."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.source.columns import TIMESTAMP_ZONED, Kind
from airflow_kconnect.connectors.jdbc.source.dialect import TextDialect
from airflow_kconnect.connectors.jdbc.source.tables import Column

# UUID counts as BINARY there, the others as unknown; the name of an enum has its values too.
_TEXTS = ("UUID", "JSON", "ENUM")


class H2(TextDialect):
    """H2 2 or newer."""

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        if _is_text(column):
            return Kind.STRING
        # Its digits are before or after the point, as each value has it.
        return None if column.type_name == "DECFLOAT" else super().kind(column, numeric_mapping)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        if _is_text(column):
            return f"CAST({self.quote(column.name)} AS VARCHAR)", None
        return super().select(column, kind)

    def wall(self, column: Column) -> str:
        if column.jdbc_type != TIMESTAMP_ZONED:
            return super().wall(column)
        since_1970 = f"{self.quote(column.name)} - TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'"
        return f"TIMESTAMP '1970-01-01 00:00:00' + ({since_1970})"


def _is_text(column: Column) -> bool:
    return column.type_name.partition("(")[0] in _TEXTS
