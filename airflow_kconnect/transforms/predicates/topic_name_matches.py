"""TopicNameMatches: the name of the record's topic matches a regular expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type, all_of
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Predicate, Rows, Scope
from airflow_kconnect.transforms.expressions.java_regexes import JAVA_REGEX, matches, name_matches

if TYPE_CHECKING:
    from pyspark.sql import Column


class TopicNameMatches(Predicate):
    """``org.apache.kafka.connect.transforms.predicates.TopicNameMatches``; the whole name must match."""

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define(
            "pattern",
            Type.STRING,
            importance=Importance.MEDIUM,
            documentation="Regular expression, in Java's notation, for the name of the topic.",
            validator=all_of(NonEmptyString(), JAVA_REGEX),
        )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def test(self, frame: RecordFrame, scope: Scope) -> Column:
        from pyspark.sql import functions as F

        pattern = self.config_values["pattern"]
        known = None if frame.constant_topic is None else name_matches(pattern, frame.constant_topic)
        if known is not None:
            return F.lit(known)
        holds = matches(Rows(frame, scope).topic, pattern)
        return F.coalesce(holds, F.lit(False))
