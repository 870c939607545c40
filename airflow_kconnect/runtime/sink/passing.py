"""Rows that are counted while they pass on to Spark's writers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row


class Passing:
    """Rows, and counts of them, which are known when they were written.

    What Spark observes in a job has counted the rows of a task twice if the task ran twice: because an executor was
    lost with what others had still to read from it, or because rows were sampled before they were sorted.

    :param counts: by name.
    """

    def __init__(self, rows: DataFrame, counts: Mapping[str, Column]) -> None:
        from pyspark.sql import Observation

        self._given, self._observation = rows, Observation()
        self._counts = [count.alias(name) for name, count in counts.items()]
        self._exact: Row | None = None
        self.rows = rows.observe(self._observation, *self._counts)

    def __getitem__(self, name: str) -> int:
        return int(self._observation.get[name] if self._exact is None else self._exact[name])

    def count_again(self) -> None:
        """Count exactly, by a job."""
        if self._exact is None:
            self._exact = self._given.agg(*self._counts).first()
