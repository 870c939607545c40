"""DropHeaders: removes all headers with given names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidList
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Scope, Transformation, set_headers

if TYPE_CHECKING:
    from pyspark.sql import Column


class DropHeaders(Transformation):
    """``org.apache.kafka.connect.transforms.DropHeaders``."""

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define(
            "headers",
            Type.LIST,
            importance=Importance.HIGH,
            documentation="Names of the headers to remove.",
            validator=ValidList(empty_allowed=False),
        )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"headers"})

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        if frame.headers is None:
            return frame
        names = self.config_values["headers"]
        remaining = F.filter(frame.df[frame.headers], lambda header: ~header["key"].isin(names))
        return set_headers(frame, F.when(F.size(remaining) > 0, remaining), where)
