"""Values of columns as MySQL's driver takes them, as Catalyst expressions."""

from __future__ import annotations

from pyspark.sql import Column

from airflow_kconnect.connect.data import DATE, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.sink.cells import (
    Cell,
    date_in,
    given,
    instant_of,
    kind_of,
    local_time,
    plain_value,
    time_text,
)
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn


def driver_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value that MySQL's driver takes: numbers, texts, bytes; moments and decimals are texts."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind in (DATE, TIME, TIMESTAMP):
        if kind == TIME:
            return Cell(time_text(value, settings.time_zone))
        if kind == DATE:
            return Cell(date_in(value, settings.date_zone).cast("string"))
        instant, problem = instant_of(column, value, settings)
        return Cell(local_time(instant, settings.time_zone).cast("string"), problem)
    return plain_value(column, value, kind)
