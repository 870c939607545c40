"""HasHeaderKey: the record has a header with a given name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Predicate, Scope

if TYPE_CHECKING:
    from pyspark.sql import Column


class HasHeaderKey(Predicate):
    """``org.apache.kafka.connect.transforms.predicates.HasHeaderKey``."""

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define(
            "name",
            Type.STRING,
            importance=Importance.MEDIUM,
            documentation="Name of the header.",
            validator=NonEmptyString(),
        )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"headers"})

    def test(self, frame: RecordFrame, scope: Scope) -> Column:
        from pyspark.sql import functions as F

        if frame.headers is None:
            return F.lit(False)
        name = self.config_values["name"]
        has_key = F.exists(frame.df[frame.headers], lambda header: header["key"] == name)
        return F.coalesce(has_key, F.lit(False))
