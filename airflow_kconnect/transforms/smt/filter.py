"""Filter: drops records; use it with a predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Scope, Transformation, failed

if TYPE_CHECKING:
    from pyspark.sql import Column


class Filter(Transformation):
    """``org.apache.kafka.connect.transforms.Filter``."""

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        return failed(frame, F.lit(DROPPED), where)
