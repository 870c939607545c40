"""Records as rows of a table, by Catalyst alone."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.directory.types import common_type, fitted


def columns_of(frame: RecordFrame) -> T.StructType:
    """The columns that hold the values of all shapes."""
    if frame.value.absent:
        return T.StructType()
    types = [frame.df.schema[name].dataType for name in frame.value.columns]
    united = reduce(lambda one, other: common_type("value", one, other), types)
    assert isinstance(united, T.StructType)
    return united


def rows_of(frame: RecordFrame, columns: T.StructType) -> DataFrame:
    """The columns of the table, and those that the frame carries."""
    cells = []
    for field in columns.fields:
        choices = []
        for name in frame.value.columns:
            given = frame.df.schema[name].dataType
            assert isinstance(given, T.StructType)
            if field.name in given.names:
                cell = frame.df[name].getField(field.name)
                choices.append(fitted(cell, given[field.name].dataType, field.dataType))
        cells.append((F.coalesce(*choices) if choices else F.lit(None).cast(field.dataType)).alias(field.name))
    return frame.df.select(*cells, *frame.carried)
