"""The transformations of a connector, in order (``org.apache.kafka.connect.runtime.TransformationChain``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import Type, parse_type
from airflow_kconnect.connect.error_cells import DROPPED, stage_prefix
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.plugins.registry import TRANSFORMS, registry
from airflow_kconnect.transforms.base import Predicate, Scope, Transformation, data_exception
from airflow_kconnect.validation.topic_rules import KAFKA_TOPICS, check_topic_name

if TYPE_CHECKING:
    from pyspark.sql import Column

STAGE = "TRANSFORMATION"


@dataclass(frozen=True)
class ChainLink:
    """A transformation and where it applies.

    :param class_name: Java name, for errors.
    :param negate: apply where the predicate is false.
    :param alias: the transformation's name in the configuration; empty if there is none.
    :param predicate_alias: the predicate's.
    """

    class_name: str
    transformation: Transformation
    predicate: Predicate | None = None
    negate: bool = False
    alias: str = ""
    predicate_alias: str = ""

    def apply(self, frame: RecordFrame, scope: Scope) -> RecordFrame:
        """Change the records that have no error yet and that the predicate selects."""
        from pyspark.sql import functions as F

        columns = {"earlier_error": F.col("error"), "error": F.lit(None).cast("string")}
        where = None
        if self.predicate is not None:
            # Columns of their own: a transformation refers to the condition once per shape.
            frame = frame.with_columns({**columns, "holds": self._tested(self.predicate, frame, scope)})
            name = self.predicate_alias or type(self.predicate).__name__
            text = data_exception(f"Predicate {name} fails: {self.predicate}")
            applies = F.coalesce(F.col("holds") != F.lit(self.negate), F.lit(False))
            columns, where = {"applies": applies, "error": F.when(F.col("holds").isNull(), text)}, F.col("applies")
        topic = frame.constant_topic
        with keys_below(f"transforms.{self.alias}." if self.alias else ""):
            frame = self.transformation.apply(frame.with_columns(columns), where, scope)
        if frame.constant_topic is not None and frame.constant_topic != topic and not scope.is_sink:
            self._check_topic(frame.constant_topic)
        own = F.concat(F.lit(stage_prefix(STAGE, self.class_name)), F.col("error"))
        own = F.when(F.col("error") == DROPPED, F.col("error")).otherwise(own)
        error = F.coalesce(F.col("earlier_error"), own)
        return frame.with_columns({"error": error}, without=("earlier_error", "holds", "applies"))

    @property
    def needs(self) -> frozenset[str]:
        return self.transformation.needs | (self.predicate.needs if self.predicate else frozenset())

    def _tested(self, predicate: Predicate, frame: RecordFrame, scope: Scope) -> Column:
        with keys_below(f"predicates.{self.predicate_alias}." if self.predicate_alias else ""):
            return predicate.test(frame, scope)

    def _check_topic(self, topic: str) -> None:
        """:raises ConfigError: all records would go to an invalid topic, or to an internal one of Kafka."""
        problem = check_topic_name(topic)
        if problem is None and topic in KAFKA_TOPICS:
            problem = f"the topic '{topic}' is Kafka's own"
        if problem:
            raise ConfigError(
                {f"transforms.{self.alias}": [f"{self.class_name} gives records a wrong topic: {problem}"]}
            )


@contextmanager
def keys_below(prefix: str) -> Iterator[None]:
    """Errors for a stage's own keys get the keys that the user has written."""
    try:
        yield
    except ConfigError as error:
        errors = {prefix + key.removeprefix(prefix): messages for key, messages in error.errors.items()}
        raise ConfigError(errors, error.connector) from error


class Chain:
    """The transformations of a connector."""

    def __init__(self, links: tuple[ChainLink, ...]) -> None:
        self.links = links

    @classmethod
    def from_props(cls, props: Mapping[str, str]) -> Chain:
        """The chain of a validated configuration.

        :raises ConfigError: see `Transformation`.
        """
        return cls(tuple(_link(props, alias) for alias in _aliases(props, "transforms")))

    @property
    def needs(self) -> frozenset[str]:
        """What sinks must read besides values: some of ``key``, ``timestamp``, ``headers``."""
        return frozenset().union(*(link.needs for link in self.links))

    def apply(self, frame: RecordFrame, scope: Scope) -> RecordFrame:
        """Run all transformations; the frame needs a carried ``error`` column."""
        return reduce(lambda result, link: link.apply(result, scope), self.links, frame)


def _aliases(props: Mapping[str, str], key: str) -> list[str]:
    return [alias for alias in parse_type(key, props.get(key, ""), Type.LIST) if alias]


def _below(props: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}


def _link(props: Mapping[str, str], alias: str) -> ChainLink:
    own = _below(props, f"transforms.{alias}.")
    class_name = registry().resolve(TRANSFORMS, own["type"].strip(), key=f"transforms.{alias}.type")
    with keys_below(f"transforms.{alias}."):
        transformation = registry().transform(class_name)(own)
    name = own.get("predicate")
    if name is None:
        return ChainLink(class_name, transformation, alias=alias)
    name = name.strip()
    config = _below(props, f"predicates.{name}.")
    with keys_below(f"predicates.{name}."):
        predicate = registry().predicate(config["type"].strip(), key=f"predicates.{name}.type")(config)
    negate = own.get("negate", "").strip().lower() == "true"
    return ChainLink(class_name, transformation, predicate, negate, alias, name)
