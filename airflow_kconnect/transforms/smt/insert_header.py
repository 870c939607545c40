"""InsertHeader: adds a header that is the same for all records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.header_codecs import header_codec
from airflow_kconnect.converters.header_text.values import parse_string
from airflow_kconnect.transforms.base import Rows, Scope, Transformation, data_exception, failed, set_headers

if TYPE_CHECKING:
    from pyspark.sql import Column


class InsertHeader(Transformation):
    """``org.apache.kafka.connect.transforms.InsertHeader``; the type of the value is inferred from its text."""

    @classmethod
    def config(cls) -> ConfigDef:
        value = "Value of the header: what looks like a number, boolean, date, list or map becomes one."
        return (
            ConfigDef()
            .define("header", Type.STRING, importance=Importance.HIGH, documentation="Name of the header to add.")
            .define("value.literal", Type.STRING, importance=Importance.HIGH, documentation=value)
        )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"headers"})

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        schema, value = parse_string(self.config_values["value.literal"])
        try:
            data = header_codec(scope.header_converter).encode(schema, value)
        except DataError as error:
            return failed(frame, data_exception(str(error)), where)
        name = F.lit(self.config_values["header"])
        header = F.array(F.struct(name.alias("key"), F.lit(data).cast("binary").alias("value")))
        old = Rows(frame, scope).headers
        return set_headers(frame, header if old is None else F.concat(F.coalesce(old, F.array()), header), where)
