"""TimestampRouter: builds topic names from the topic and timestamp of each record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Rows, Scope, Transformation, failed, set_topic
from airflow_kconnect.transforms.expressions.date_patterns import DatePattern, pattern_problem

if TYPE_CHECKING:
    from pyspark.sql import Column


class TimestampRouter(Transformation):
    """``org.apache.kafka.connect.transforms.TimestampRouter``."""

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define(
                "topic.format",
                Type.STRING,
                "${topic}-${timestamp}",
                Importance.HIGH,
                "The new name: ${topic} is replaced by the old one, ${timestamp} by the time.",
            )
            .define(
                "timestamp.format",
                Type.STRING,
                "yyyyMMdd",
                Importance.HIGH,
                "Pattern of java.text.SimpleDateFormat by which the time is written; zone is UTC.",
                validator=LambdaValidator(pattern_problem),
            )
        )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"timestamp"})

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        from airflow_kconnect.transforms.expressions.date_texts import written

        rows = Rows(frame, scope)
        # Records without a timestamp get that of the moment when they are written.
        ms = F.unix_millis(F.current_timestamp()) if rows.timestamp is None else rows.timestamp
        instant = F.timestamp_micros(F.try_multiply(ms, F.lit(1000)))
        time = written(DatePattern.parse(self.config_values["timestamp.format"]), instant)
        new = F.replace(F.lit(self.config_values["topic.format"]), F.lit("${topic}"), rows.topic)
        topic = F.replace(new, F.lit("${timestamp}"), time)
        missing = F.concat(F.lit("Timestamp missing on record of topic "), rows.topic)
        error = F.when(ms.isNull(), missing).when(instant.isNull(), "Timestamp is out of range")
        return set_topic(failed(frame, error, where), topic, where)
