"""Which class is about which format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow_kconnect.connectors.table.formats.base import Table

ICEBERG, DELTA = "iceberg", "delta"
FORMATS = (ICEBERG, DELTA)
"""Those that refuse a plan that they have: their tables are written exactly once."""
CHANGEABLE = (ICEBERG, DELTA)
"""Those whose rows and columns can be changed, and whose changes can be read."""
WITHOUT_PERMISSION = (ICEBERG, DELTA)
"""Those with any options, whatever the worker allows: none of these loads code or reaches other files. Options of other
formats are judged by `plain/options.py`."""


def table_class(name: str) -> type[Table]:
    """The class of tables of a format."""
    if name == ICEBERG:
        from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable

        return IcebergTable
    if name == DELTA:
        from airflow_kconnect.connectors.table.formats.delta.table import DeltaTable

        return DeltaTable
    from airflow_kconnect.connectors.table.formats.plain.table import PlainTable

    return PlainTable
