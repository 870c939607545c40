"""One consistent view of a PostgreSQL database for all connections of a run."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.database import Database
from airflow_kconnect.connectors.jdbc.dialects.postgresql import READER


def export_snapshot(db: Database) -> str:
    """Begin a transaction on this connection and offer its view to others: valid while the connection is open.

    :returns: the statement that their transactions begin with.
    """
    db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    (name,) = db.row("SELECT pg_export_snapshot()")
    assert name is not None and name.replace("-", "").isalnum()
    return (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;"
        f" SET TRANSACTION SNAPSHOT '{name}'; SET application_name = '{READER}'"
    )
