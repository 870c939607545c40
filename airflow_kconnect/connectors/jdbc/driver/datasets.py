"""Tables as OpenLineage names them: ``postgres://host:5432`` and ``database.schema.table``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from airflow_kconnect.connect.datasets import Dataset
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl


class _Naming(NamedTuple):
    """How tables of a kind of database are named.

    :param schema: the schema of a table that is named without one; None where databases have no schemas.
    """

    scheme: str
    port: int
    schema: str | None


_NAMINGS = {
    "postgresql": _Naming("postgres", 5432, "public"),
    "mysql": _Naming("mysql", 3306, None),
    "mariadb": _Naming("mariadb", 3306, None),
    "sqlserver": _Naming("mssql", 1433, "dbo"),
}


def datasets_of(url: str, tables: Iterable[str]) -> list[Dataset]:
    """The datasets of tables; user, password and parameters of the URL are left out.

    :param url: a JDBC URL that was validated.
    :param tables: ``table``, ``schema.table`` or ``catalog.schema.table``.
    """
    parsed = JdbcUrl.parse(url)
    naming = _NAMINGS.get(parsed.subprotocol)
    if naming is None:
        where = f"{parsed.host}:{parsed.port}" if parsed.port else parsed.host or parsed.database or ""
        within = [parsed.database] if parsed.host and parsed.database else []
        return [Dataset(f"{parsed.subprotocol}://{where}", ".".join([*within, table])) for table in tables]
    namespace = f"{naming.scheme}://{parsed.host}:{parsed.port or naming.port}"
    around = [part for part in (parsed.database, naming.schema) if part]
    return [Dataset(namespace, _full_name(table.split("."), around)) for table in tables]


def _full_name(parts: list[str], around: list[str]) -> str:
    """The name with what it leaves out; `around` are database and schema, as far as there are such."""
    missing = max(len(around) + 1 - len(parts), 0)
    return ".".join([*around[:missing], *parts])
