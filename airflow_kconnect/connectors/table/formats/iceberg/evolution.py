"""Changes of a table's columns, as one commit of Iceberg's `UpdateSchema`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.iceberg.access import TableAccess
from airflow_kconnect.connectors.table.formats.iceberg.errors import is_conflict, text_of, understood
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience


def change_columns(access: TableAccess, changes: Sequence[Change], patience: Patience) -> None:
    """Make all of the changes, or none. What another writer has changed in the same way is left as it is.

    :raises ConfigError: Iceberg cannot make one of them. :raises RetriableError: other writers are always faster.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import IllegalArgumentException, PySparkException

    for _ in patience:
        table = access.read().table
        update = table.updateSchema()
        try:
            with understood(access.subject):
                wanted = [_add_to(update, access, table.schema(), change) for change in changes]
                if any(wanted):
                    update.commit()
                return
        except IllegalArgumentException as error:
            raise ConfigError({SCHEMA_CHANGE: [f"{access.subject}: {text_of(error)}: change it yourself"]}) from error
        except RetriableError as error:
            if not isinstance(error.__cause__, (Py4JError, PySparkException)) or not is_conflict(error.__cause__):
                raise
    raise RetriableError(f"{access.subject}: other writers change its columns all the time: run again")


def _add_to(update: Any, access: TableAccess, schema: Any, change: Change) -> bool:
    """Add one change to those that will be committed; returns whether there is anything to do."""
    from pyspark.sql import types as T

    name = ".".join(change.path)
    found = schema.findField(name)
    if change.kind == "optional":
        if found is not None and found.isOptional():
            return False
        update.makeColumnOptional(name)
        return True
    assert change.type is not None
    field = T.StructField(change.path[-1], change.type)
    wanted = access.schema(T.StructType([field])).columns().get(0).type()
    if change.kind == "add":
        if found is not None:
            return False
        parent = ".".join(change.path[:-1]) or None
        update.addColumn(parent, change.path[-1], wanted, change.comment, None)
        return True
    if found is not None and found.type().equals(wanted):
        return False
    update.updateColumn(name, wanted)
    return True
