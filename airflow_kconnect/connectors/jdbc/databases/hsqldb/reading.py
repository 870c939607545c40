"""Reading from HSQLDB, which has UUIDs and strings of bits under numbers of other types of JDBC."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.source.columns import BIT, Kind
from airflow_kconnect.connectors.jdbc.source.dialect import TextDialect, as_text
from airflow_kconnect.connectors.jdbc.source.tables import Column


class Hsqldb(TextDialect):
    """HSQLDB 2.7."""

    def kind(self, column: Column, numeric_mapping: str) -> Kind | None:
        if column.type_name == "UUID":
            return Kind.STRING
        if column.jdbc_type == BIT and (column.precision != 1 or column.type_name != "BIT"):
            return None
        return super().kind(column, numeric_mapping)

    def select(self, column: Column, kind: Kind) -> tuple[str, str | None]:
        if column.type_name == "UUID":
            return as_text(self.quote(column.name)), None
        return super().select(column, kind)
