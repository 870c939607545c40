"""What fields the files of a topic have: its table, to which ``fail`` and ``ignore`` hold its records.

They are those of the newest file of each partition; if there is none, those of the first record of the run. Parquet and
Avro files say names and types, JSON lines the names of their outermost fields.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from airflow_kconnect.connect.data import SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.changes import IGNORE, SCHEMA_CHANGE
from airflow_kconnect.connectors.directory.encoders.texts import decompressed
from airflow_kconnect.connectors.directory.layout import FolderLayout
from airflow_kconnect.connectors.directory.types import Difference, common_type, differences, new
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.places.base import Place, PlacedFile

_LINES_MAX = 1000
_THREADS = 8
"""For partitions, each of which waits for its store."""

Types = Mapping[str, T.DataType | None]
"""Names of columns; None: any type."""


@dataclass(frozen=True)
class Fit:
    """How records of a shape fit into a table.

    :param problem: why they do not; None: they do.
    :param left_out: fields that the table does not have.
    :param narrowed: columns whose numbers may not fit.
    """

    problem: str | None = None
    left_out: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()


@dataclass
class FolderTables:
    """The tables of the topics of a run.

    :param policy: ``fail`` or ``ignore``.
    :param topics: all topics of the run.
    :param by_topic: what is known so far.
    """

    connector: str
    policy: str
    topics: tuple[str, ...] = ()
    by_topic: dict[str, Types] = field(default_factory=dict)

    @property
    def unknown(self) -> list[str]:
        """Topics whose tables have not begun."""
        return [topic for topic in self.topics if topic not in self.by_topic]

    def look(self, layout: FolderLayout, topic_partitions: Iterable[TopicPartition]) -> None:
        """Look at the files of partitions."""
        looked_at = [*topic_partitions]
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-tables") as pool:
            found = [*pool.map(partial(_types_of_files, layout), looked_at)]
        for topic_partition, types in zip(looked_at, found, strict=True):
            self.topics = tuple(dict.fromkeys((*self.topics, topic_partition.topic)))
            if types is not None:
                self.by_topic[topic_partition.topic] = _united(self.by_topic.get(topic_partition.topic, {}), types)

    def begin(self, topic: str, shape: Shape, *, with_types: bool) -> None:
        """The first record of a topic has this shape.

        :param with_types: whether files will say them.
        """
        types = members(shape)
        if with_types or _is_struct(shape):
            self.by_topic[topic] = types if with_types else dict.fromkeys(types)

    def fit(self, topic: str, shape: Shape, *, only_structs: bool) -> Fit:
        """How records of a shape fit into a topic's table.

        :param only_structs: values without fields always do.
        """
        known, given = self.by_topic.get(topic), members(shape)
        if known is None or (only_structs and not _is_struct(shape)):
            return Fit()
        deviations = list(_differences(known, given))
        missing = [each for each in deviations if each.kind == "new"]
        if self.policy != IGNORE:
            return Fit(self._problem(topic, deviations)) if deviations else Fit()
        narrowed = [each for each in deviations if each.kind == "wider" and len(each.path) == 1]
        wrong = [each for each in deviations if each not in missing and each not in narrowed]
        if given and not known.keys() & given.keys():
            wrong = missing
        if wrong:
            return Fit(self._problem(topic, wrong))
        return Fit(None, tuple(each.name for each in missing), tuple(each.path[0] for each in narrowed))

    def _problem(self, topic: str, deviations: Iterable[Difference]) -> str:
        what = ", ".join(each.text for each in deviations)
        return f"{what}: not as in the files of {topic}, and `{SCHEMA_CHANGE}` of {self.connector} is {self.policy}"


def members(shape: Shape) -> dict[str, T.DataType]:
    """The columns for values of a shape: those of a struct's fields, else ``value``."""
    if shape.schema is None:
        return {"value": T.StringType()}
    type_ = spark_type(shape.schema)
    return {f.name: f.dataType for f in type_.fields} if isinstance(type_, T.StructType) else {"value": type_}


def _is_struct(shape: Shape) -> bool:
    return shape.schema is not None and shape.schema.type is SchemaType.STRUCT


def _differences(known: Types, given: Mapping[str, T.DataType]) -> Iterator[Difference]:
    for name, type_ in given.items():
        if name not in known:
            yield new((name,))
        elif (had := known[name]) is not None:
            yield from differences((name,), had, type_)


def _united(one: Types, other: Types) -> Types:
    types = dict(one)
    for name, type_ in other.items():
        had = types.get(name)
        try:
            types[name] = type_ if had is None or type_ is None else common_type(name, had, type_)
        except DataError:
            types[name] = had  # partitions disagree: one of them has to be right
    return types


def _types_of_files(layout: FolderLayout, topic_partition: TopicPartition) -> Types | None:
    """Those of the newest file that is of the format of this run."""
    ending, _, _ = layout.extension.partition(".")
    named = re.compile(rf"{ending}(\.[a-z0-9]+)?")
    files = [each.file for each in layout.visible(topic_partition) if named.fullmatch(_extension(each.name))]
    return _types(layout.place, files[-1], ending) if files else None


def _extension(name: str) -> str:
    """Names of topics may have dots."""
    return name.rpartition("+")[2].partition(".")[2]


def _types(place: Place, file: PlacedFile, ending: str) -> Types | None:
    read = {"parquet": _parquet_types, "avro": _avro_types}.get(ending, _json_names)
    try:
        with place.read(file) as opened:
            return read(opened, file.name)
    except (ValueError, EOFError, OSError, zlib.error, pa.ArrowException) as error:
        what = {"parquet": "a Parquet file", "avro": "an Avro file"}.get(ending, "a file with lines")
        text = f"{place.uri(file.name)} is not {what} that can be read ({error}): move it out of the folder"
        raise DataError(text) from None


def _parquet_types(opened: BinaryIO, _name: str) -> Types:
    return {f.name: f.dataType for f in from_arrow_schema(pq.read_schema(opened)).fields}


def _avro_types(opened: BinaryIO, _name: str) -> Types:
    from airflow_kconnect.connectors.directory.encoders.avro_schemas import schema_of_file

    return members(Shape(schema_of_file(opened)))


def _json_names(opened: BinaryIO, name: str) -> Types | None:
    """Names of the fields of the first line that has any."""
    with decompressed(opened, name) as lines:
        for line in islice(lines, _LINES_MAX):
            if line.startswith(b"{"):
                return dict.fromkeys(json.loads(line))
    return None
