"""Reading from H2, which casts a timestamp with a zone to one without in the zone of the session."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.source.columns import TIMESTAMP_ZONED
from airflow_kconnect.connectors.jdbc.source.dialect import TextDialect
from airflow_kconnect.connectors.jdbc.source.tables import Column


class H2(TextDialect):
    """H2 2 or newer."""

    def wall(self, column: Column) -> str:
        if column.jdbc_type != TIMESTAMP_ZONED:
            return super().wall(column)
        since_1970 = f"{self.quote(column.name)} - TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00'"
        return f"TIMESTAMP '1970-01-01 00:00:00' + ({since_1970})"
