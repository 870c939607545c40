"""Tables as OpenLineage names them: ``postgres://host:5432`` and ``database.schema.table``."""

from __future__ import annotations

from collections.abc import Iterable

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.facts.registry import database_of


def datasets_of(url: str, tables: Iterable[str]) -> list[Dataset]:
    """The datasets of tables; user, password and parameters of the URL are left out.

    :param url: a JDBC URL that was validated.
    :param tables: ``table``, ``schema.table`` or ``catalog.schema.table``.
    """
    parsed = JdbcUrl.parse(url)
    database = database_of(parsed.subprotocol)
    lineage = database.lineage
    if lineage is None:
        where = f"{parsed.host}:{parsed.port}" if parsed.port else parsed.host or parsed.database or ""
        within = [parsed.database] if parsed.host and parsed.database else []
        return [Dataset(f"{parsed.subprotocol}://{where}", ".".join([*within, table])) for table in tables]
    namespace = f"{lineage.scheme}://{parsed.host}:{parsed.port or database.port}"
    around = [part for part in (parsed.database, lineage.schema) if part]
    return [Dataset(namespace, _full_name(table.split("."), around)) for table in tables]


def _full_name(parts: list[str], around: list[str]) -> str:
    """The name with what it leaves out; `around` are database and schema, where there are any."""
    missing = max(len(around) + 1 - len(parts), 0)
    return ".".join([*around[:missing], *parts])
