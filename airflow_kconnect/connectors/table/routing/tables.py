"""The tables of a run: each is opened once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.table.identifiers import parts_of
from airflow_kconnect.connectors.table.routing.routing import own_name
from airflow_kconnect.connectors.table.settings import APPEND, DEAD_LETTERS, TableSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_kconnect.connectors.table.formats.base import Table


class Tables:
    """Opens tables by their full names; knows which are open.

    :param table_class: of their format.
    """

    def __init__(self, table_class: type[Table], settings: TableSettings) -> None:
        self._class, self._settings = table_class, settings
        self._open: dict[str, Table] = {}
        self.spark: SparkSession | None = None

    def __getitem__(self, full_name: str) -> Table:
        if full_name not in self._open:
            assert self.spark is not None
            own = self._settings.of(own_name(self._settings.routing, full_name))
            if own.dead_letter_table and is_of_dead_letters(full_name):
                own = replace(own, mode=APPEND, keys=(), partition_by=())
            self._open[full_name] = self._class(self.spark, full_name, own)
        return self._open[full_name]

    def __iter__(self) -> Iterator[Table]:
        return iter(self._open.values())


def is_of_dead_letters(full_name: str) -> bool:
    """Whether it is a table of bad records, by its name."""
    return parts_of(full_name)[-1].endswith(DEAD_LETTERS)
