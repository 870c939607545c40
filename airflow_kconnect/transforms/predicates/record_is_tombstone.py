"""RecordIsTombstone: the record has no value."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Predicate, Scope

if TYPE_CHECKING:
    from pyspark.sql import Column


class RecordIsTombstone(Predicate):
    """``org.apache.kafka.connect.transforms.predicates.RecordIsTombstone``; the schema is ignored."""

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def test(self, frame: RecordFrame, scope: Scope) -> Column:
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        present = [frame.df[name].isNotNull() for name in frame.value.columns]
        return ~reduce(Column.__or__, present, F.lit(False))
