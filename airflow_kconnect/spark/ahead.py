"""Reads the first records of a source, where only they tell which schema a DataFrame of it has."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.source import Offset, PollSourceConnector
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.functions.source import FunctionSourceConnector
from airflow_kconnect.functions.source_spec import INFERRED
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.spark.opened import OpenedSource
from airflow_kconnect.spark.options import AHEAD, TOPICS
from airflow_kconnect.spark.polling import ShapesFound, TaskPoller
from airflow_kconnect.spark.rows import shown

# A task of a quiet source may wait for its next record as long as it likes.
_POLLED_FOR_S = 20.0


@dataclass(frozen=True)
class Schemas:
    """What records have.

    :param known: for `PollSourceConnector.learn`. :param value: of all values; None: no schema. :param key: likewise.
    """

    known: tuple[Mapping[str, Any], ...]
    value: ConnectSchema | None
    key: ConnectSchema | None


def schemas_of(source: OpenedSource) -> Schemas:
    """The schemas of the records that the options want, declared by the connector or found in records.

    It reads from the beginning of the source, also if the DataFrame will not: the schema is the same each time.

    :raises ConfigError: there are several, or none can be found. :raises ConnectError: the source cannot be read.
    """
    ahead = _ReadAhead(source)
    if ahead.tells_more:
        for task in range(len(source.polling().configs)):
            ahead.look(task)
    return ahead.schemas()


class _ReadAhead:
    def __init__(self, source: OpenedSource) -> None:
        self._source, self._connector = source, source.connector
        self._known: list[Mapping[str, Any]] = []
        self._seen: dict[str, dict[ConnectSchema | None, set[str]]] = {"key": {}, "value": {}}

    @property
    def tells_more(self) -> bool:
        """Whether records tell what the connector does not."""
        shapes = self._connector.shapes()
        learns = type(self._connector).learn is not PollSourceConnector.learn
        unclear_key = self._source.options.metadata and len(shapes.keys) > 1
        return len(shapes.values) > 1 or unclear_key or (learns and not shapes.values)

    def look(self, task: int) -> None:
        """Read the first records of a task."""
        until_s = time.monotonic() + _POLLED_FOR_S
        offsets: dict[str, Offset] = {}
        left = self._source.options.ahead
        while left > 0 and (left_s := until_s - time.monotonic()) > 0:
            settings = self._source.polling()
            most = tuple(left if most is None else min(left, most) for most in settings.max_records)
            settings = replace(settings, offsets=offsets, max_records=most, max_duration_s=left_s)
            try:
                for batch in TaskPoller(settings, self._source.errors).batches(task):
                    left -= batch.num_rows
                    offsets |= _reached(batch)
                    self._note(batch)
                    if left <= 0 or time.monotonic() > until_s:
                        break  # a bound of the task waits for the end of a transaction
                return
            except ShapesFound as found:
                self._learn(found.facts)

    def _learn(self, facts: Mapping[str, Any]) -> None:
        known = self._connector.learn([*self._known, facts])
        if [known] == self._known:
            raise DataError("a task has found records with shapes that it was told of already: an error of the source")
        self._known, self._seen = [known], {"key": {}, "value": {}}

    def _note(self, batch: pa.RecordBatch) -> None:
        shapes = self._connector.shapes()
        for part, declared in (("key", shapes.keys), ("value", shapes.values)):
            pairs = batch.select(["topic", f"{part}_tag"])
            for row in pa.Table.from_batches([pairs]).group_by(pairs.schema.names).aggregate([]).to_pylist():
                topic, tag = row["topic"], row[f"{part}_tag"]
                if tag is not None and self._is_wanted(topic):
                    schema = declared[tag].schema if tag < len(declared) else None
                    self._seen[part].setdefault(schema, set()).add(topic)

    def _is_wanted(self, topic: str) -> bool:
        topics = self._source.options.topics
        return topics is None or topic in topics

    def schemas(self) -> Schemas:
        """What was found. :raises ConfigError: no schema, or several."""
        shapes = self._connector.shapes()
        if not shapes.values and not self._seen["value"] and _infers(self._connector):
            text = "the source has no records yet, in which a schema could be found: say which types they have"
            raise ConfigError({"connector.class": [f"{text}, @source(schema=...)"]}, self._source.name)
        value = self._one("value", shapes.values)
        return Schemas(
            tuple(self._known), value, self._one("key", shapes.keys) if self._source.options.metadata else None
        )

    def _one(self, part: str, declared: Sequence[Shape]) -> ConnectSchema | None:
        seen = self._seen[part]
        if len(declared) == 1:
            return declared[0].schema
        if len(seen) > 1:
            several = "; ".join(f"topic {', '.join(sorted(topics))}: {shown(each)}" for each, topics in seen.items())
            text = f"the {part}s of its records have several schemas ({several}), and a DataFrame has one: name topics"
            raise ConfigError({TOPICS: [f"{text} that have the same one"]}, self._source.name)
        if not seen and declared and part == "value":  # topics may be without keys
            which = "; ".join(shown(shape.schema) for shape in declared)
            text = f"the source has several schemas ({which}), and its first records show none of those topics"
            raise ConfigError({TOPICS: [f"{text}: name others, or read further by `{AHEAD}`"]}, self._source.name)
        return next(iter(seen), None)


def _infers(connector: PollSourceConnector) -> bool:
    return isinstance(connector, FunctionSourceConnector) and connector.spec.schema == INFERRED


def _reached(batch: pa.RecordBatch) -> dict[str, Offset]:
    """The last offset of each source partition."""
    tracked = batch.filter(pc.and_(pc.is_valid(batch["source_partition"]), pc.is_valid(batch["source_offset"])))
    pairs = zip(tracked["source_partition"].to_pylist(), tracked["source_offset"].to_pylist(), strict=True)
    last = dict(pairs)
    return {partition_identity(json.loads(partition)): json.loads(offset) for partition, offset in last.items()}
