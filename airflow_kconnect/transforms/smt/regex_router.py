"""RegexRouter: renames topics by a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Rows, Scope, Transformation, set_topic
from airflow_kconnect.transforms.expressions.java_regexes import (
    JAVA_REGEX,
    matches,
    name_matches,
    replacement_problem,
    with_first_replaced,
)

if TYPE_CHECKING:
    from pyspark.sql import Column


class RegexRouter(Transformation):
    """``org.apache.kafka.connect.transforms.RegexRouter``: a topic is renamed if its whole name matches."""

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define(
                "regex",
                Type.STRING,
                importance=Importance.HIGH,
                documentation="Regular expression that the name of a topic must match as a whole.",
                validator=JAVA_REGEX,
            )
            .define(
                "replacement",
                Type.STRING,
                importance=Importance.HIGH,
                documentation="The new name; $1 and ${name} stand for what groups of the expression found.",
            )
        )

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        replacement = config["replacement"]
        problem = replacement_problem(config["regex"], replacement)
        text = f"Invalid value {replacement} for configuration replacement: {problem}"
        return {"replacement": [text]} if problem else {}

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        if (
            frame.constant_topic is not None
            and name_matches(self.config_values["regex"], frame.constant_topic) is False
        ):
            return frame
        topic = self._renamed(Rows(frame, scope).topic)
        if frame.topic or where is not None:
            return set_topic(frame, topic, where)
        # A separate topic for each record would slow down writing. Spark folds this: no task runs.
        [row] = frame.df.sparkSession.sql("VALUES (0)").select(topic.alias("topic")).collect()
        return replace(frame, constant_topic=row.topic)

    def _renamed(self, topic: Column) -> Column:
        from pyspark.sql import functions as F

        regex, replacement = self.config_values["regex"], self.config_values["replacement"]
        return F.when(matches(topic, regex), with_first_replaced(topic, regex, replacement)).otherwise(topic)
