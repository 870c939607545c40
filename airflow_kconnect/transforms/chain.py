"""The transformations of a connector, in order (``org.apache.kafka.connect.runtime.TransformationChain``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import Type, parse_type
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connect.plugins import TRANSFORMS, registry
from airflow_kconnect.connect.task_errors import DROPPED, stage_prefix
from airflow_kconnect.transforms.base import Predicate, Scope, Transformation

if TYPE_CHECKING:
    from pyspark.sql import Column

STAGE = "TRANSFORMATION"


@dataclass(frozen=True)
class ChainLink:
    """A transformation and where it applies.

    :param class_name: Java name, for errors.
    :param negate: apply where the predicate is false.
    """

    class_name: str
    transformation: Transformation
    predicate: Predicate | None = None
    negate: bool = False

    def apply(self, frame: RecordFrame, scope: Scope) -> RecordFrame:
        """Change the records that have no error yet and that the predicate names."""
        from pyspark.sql import functions as F

        df = frame.df.withColumn("earlier_error", F.col("error")).withColumn("error", F.lit(None).cast("string"))
        where = self._where(frame, scope)
        if where is not None:
            # A column of its own: a transformation names it once per shape.
            df, where = df.withColumn("applies", where), F.col("applies")
        frame = self.transformation.apply(frame.with_df(df), where, scope)
        own = F.concat(F.lit(stage_prefix(STAGE, self.class_name)), F.col("error"))
        own = F.when(F.col("error") == DROPPED, F.col("error")).otherwise(own)
        error = F.coalesce(F.col("earlier_error"), own)
        return frame.with_df(frame.df.withColumn("error", error).drop("earlier_error", "applies"))

    @property
    def needs(self) -> frozenset[str]:
        return self.transformation.needs | (self.predicate.needs if self.predicate else frozenset())

    def _where(self, frame: RecordFrame, scope: Scope) -> Column | None:
        if self.predicate is None:
            return None
        found = self.predicate.test(frame, scope)
        return ~found if self.negate else found


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
    found = registry().resolve(TRANSFORMS, own["type"].strip(), key=f"transforms.{alias}.type")
    transformation = registry().transform(found)(own)
    name = own.get("predicate")
    if name is None:
        return ChainLink(found, transformation)
    config = _below(props, f"predicates.{name}.")
    predicate = registry().predicate(config["type"].strip(), key=f"predicates.{name}.type")(config)
    return ChainLink(found, transformation, predicate, own.get("negate", "").strip().lower() == "true")
