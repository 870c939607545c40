"""What of a plan goes to which table: by topics, or by what each record says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.planned import PlanRecords
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.columns.shapes import PartShape, ShapeBook, only, shapes_of
from airflow_kconnect.connectors.table.routing.routes import (
    ERROR,
    READ_FROM,
    ROUTES,
    constant,
    is_same,
    routed,
    topic_of,
)
from airflow_kconnect.connectors.table.routing.routing import by_record, full_name, table_of
from airflow_kconnect.connectors.table.settings import TOPIC, TableSettings

if TYPE_CHECKING:
    from pyspark.sql import Column

_HEAD = 100
"""How many offsets of a topic-partition are looked at to know the shapes of its table."""
_TABLES_MAX = 1000


@dataclass(frozen=True)
class Part:
    """The records of a table in a plan.

    :param own: which rows of the frame they are; None: all.
    :param counted: which rows are counted with them; None: they.
    """

    frame: RecordFrame
    own: Column | None = None
    counted: Column | None = None


@dataclass(frozen=True)
class Target:
    """A table to which records of a plan go.

    :param name: without prefix. :param full_name: with it, as Spark's SQL has it.
    :param topics: from which its records are read; None: from all.
    :param shapes: that they have; None: any.
    :param others: all tables of the plan, if records say where they go.
    """

    name: str
    full_name: str
    topics: tuple[str, ...] | None = None
    shapes: tuple[PartShape, ...] | None = None
    others: tuple[str, ...] = ()

    def part(self, frame: RecordFrame, settings: TableSettings) -> Part:
        """Its part of a frame."""
        if not self.others:
            return Part(frame if self.shapes is None else only(frame, self.shapes, strict=True))
        frame = with_routes(frame, settings, self.others)
        frame = frame if self.shapes is None else only(frame, self.shapes, strict=False)
        first = F.get(ROUTES, F.lit(0))
        counted = first == self.name
        if self.name == self.others[0]:  # this one takes those that go nowhere
            counted = F.coalesce(counted, F.lit(False)) | F.coalesce(~first.isin(list(self.others)), F.lit(True))
        return Part(frame, F.array_contains(ROUTES, self.name), counted)


def with_routes(frame: RecordFrame, settings: TableSettings, tables: Collection[str] | None) -> RecordFrame:
    """The frame with `ROUTES`.

    :param tables: records are bad if the table that they name is none of these: it is missing. None: none is.
    """
    frame = routed(frame, settings)
    if tables is None:
        return frame
    first = F.get(ROUTES, F.lit(0))
    text = F.concat(F.lit(f"{ERROR}there is no table "), first, F.lit(", and `auto.create` is false"))
    is_missing = first.isNotNull() & ~first.isin(list(tables))
    return frame.with_columns({"error": F.coalesce(F.col("error"), F.when(is_missing, text))})


class Targets:
    """Finds the tables of plans, and knows what it has found."""

    def __init__(self, settings: TableSettings) -> None:
        self._settings, self._routing = settings, settings.routing
        self._book = ShapeBook()
        self._topics: dict[str, str] = {}
        self._unplaced: list[PartShape] = []

    def find(self, records: PlanRecords) -> list[Target]:
        """The tables of a plan.

        :raises ConfigError: a topic has no valid table.
        :raises DataError: records name too many.
        """
        if by_record(self._routing) or self._routing.patterns:
            return self._named(records)
        new = [topic for topic in records.plan.topics if topic not in self._topics]
        self._topics |= {topic: table_of(self._routing, name) for topic, name in self._topic_names(records, new)}
        if any(topic not in self._topics for topic in records.plan.topics):
            return self._named(records)
        return self._of_topics(records)

    def learn(self, records: PlanRecords, target: Target) -> Target:
        """Look at all records of a table that has met one of another shape; what is known of it now."""
        found = self._look(records.look(target.topics), by_topic=True)
        for name, shapes in found.items():
            self._book.add(name, shapes)
        return replace(target, shapes=tuple(self._book.of(target.name)))

    def _topic_names(self, records: PlanRecords, topics: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The topics with their names after all transformations; not those that depend on records, as those of dead
        letters do.
        """
        # A frame has the cases of all shapes: with dozens of topics, one for each would take minutes.
        if len(topics) > 1 and (TOPIC not in self._routing.name_format or _keeps_topics(records.look(topics))):
            yield from zip(topics, topics, strict=True)
            return
        for topic in topics:
            frame = records.look([topic])
            name = topic if frame.topic is None else constant(frame.df, topic_of(frame))
            if name is not None:
                yield topic, name

    def _of_topics(self, records: PlanRecords) -> list[Target]:
        tables: dict[str, list[str]] = defaultdict(list)
        for topic in records.plan.topics:
            tables[self._topics[topic]].append(topic)
        frame = records.look(first=_HEAD)
        several = len(set(self._topics.values())) > 1
        if several:
            self._place(records, frame, list(tables))
        else:
            self._book.add(next(iter(tables)), shapes_of(frame))
        all_known = len(frame.value.shapes) <= 1 and len(frame.key.shapes) <= 1
        return [
            Target(
                name,
                self._full_name(name),
                tuple(topics),
                None if not several or all_known else tuple(self._book.of(name)),
            )
            for name, topics in tables.items()
        ]

    def _place(self, records: PlanRecords, frame: RecordFrame, tables: Sequence[str]) -> None:
        """Find out which shapes are whose: the beginnings of topics tell most, and records the rest."""
        if all(map(self._book.of, tables)) and not self._unknown(frame, tables):
            return
        self._add(self._look(frame, by_topic=True))
        if self._unknown(frame, tables):
            self._add(self._look(records.look(), by_topic=True))
            self._unplaced += self._unknown(frame, tables)  # of bad records

    def _unknown(self, frame: RecordFrame, tables: Sequence[str]) -> list[PartShape]:
        known = [shape for name in {*tables, *self._topics.values()} for shape in self._book.of(name)]
        return [shape for shape in shapes_of(frame) if shape not in known and shape not in self._unplaced]

    def _add(self, found: Mapping[str, Iterable[PartShape]]) -> None:
        for name, shapes in found.items():
            self._book.add(name, shapes)

    def _named(self, records: PlanRecords) -> list[Target]:
        """The tables that the records of a plan name."""
        found = self._look(records.look(), by_topic=False)
        if len(found) > _TABLES_MAX:
            where = self._routing.header or self._routing.value_field
            raise DataError(
                f"records name {len(found)} tables by `{where}` in one plan: more than {_TABLES_MAX} are probably no"
                " names of tables. Choose another field or header, or filter these records"
            )
        names = tuple(sorted(found))
        return [Target(name, self._full_name(name), None, tuple(found[name]), names) for name in names]

    def _look(self, frame: RecordFrame, *, by_topic: bool) -> dict[str, list[PartShape]]:
        """Table -> the shapes of its records, by a job.

        :param by_topic: all records of a topic go to one table.
        """
        if by_topic:
            tables = F.create_map(*(F.lit(text) for pair in self._topics.items() for text in pair))
            frame = frame.with_columns({ROUTES: F.array(F.element_at(tables, F.col(READ_FROM)))})
        else:
            frame = routed(frame, self._settings)
        # No `where`: Spark would evaluate everything that the error depends on again for it.
        is_good = F.col("error").isNull()
        tags = [F.when(is_good, _tag(frame, part)).alias(part) for part in ("key", "value")]
        names = F.when(is_good, F.col(ROUTES)).alias("names")
        found: dict[str, list[PartShape]] = {}
        for row in frame.df.select(names, *tags).distinct().collect():
            shapes = [
                (part, getattr(frame, part).shapes[row[part]]) for part in ("key", "value") if row[part] is not None
            ]
            for name in row["names"] or ():
                known = found.setdefault(name, [])
                known += [shape for shape in shapes if shape not in known]
        return found

    def _full_name(self, name: str) -> str:
        try:
            return full_name(self._routing, name)
        except ValueError as error:
            text = f"names the table {name!r}, which is not the name of a table: {error}"
            raise ConfigError({"table.name.format": [text]}, self._settings.connector) from error


def _keeps_topics(frame: RecordFrame) -> bool:
    """Whether transformations leave the topics of all records as they are."""
    if frame.topic is None:
        return True
    return READ_FROM in frame.carried and is_same(frame.df, topic_of(frame), F.col(READ_FROM))


def _tag(frame: RecordFrame, part: str) -> Column:
    union = getattr(frame, part)
    if union.tag is not None:
        return F.col(union.tag)
    return F.lit(0 if union.shapes else None).cast("int")
