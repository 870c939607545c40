"""The contract of transformations and predicates: record frame in, record frame out, as Catalyst expressions.

Most transformations change keys or values of one shape at a time: see `PartTransformation`. User-defined ones are
subclasses with an entry point in the group ``airflow_kconnect.transforms``; `docs/guides/own-transformations.md` has an
example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import SCHEMALESS, Shape
from airflow_kconnect.connect.error_cells import DATA_EXCEPTION, with_exception
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.converters.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.converters.base import Converter

Part = Literal["key", "value"]

EVERYTHING = frozenset({"key", "timestamp", "headers"})
HEADERS = "array<struct<key:string,value:binary>>"
"""The type of a frame's headers."""


@dataclass(frozen=True)
class Scope:
    """What a transformation may need besides the records.

    :param is_sink: whether records come from Kafka, and so have partitions and offsets.
    :param header_converter: frames keep headers as bytes; this converter writes those that are added.
    """

    is_sink: bool
    header_converter: Converter


@dataclass(frozen=True)
class Rows:
    """The records' metadata as columns, for the expressions of a transformation.

    :param topic: STRING. :param partition: INT, or None: not assigned yet. :param offset: LONG, sinks only.
    :param timestamp: LONG, ms, or None: not assigned yet (sources: "now").
    """

    frame: RecordFrame
    scope: Scope

    @property
    def topic(self) -> Column:
        from pyspark.sql import functions as F

        return self.frame.df[self.frame.topic] if self.frame.topic else F.lit(self.frame.constant_topic)

    @property
    def partition(self) -> Column | None:
        return self.frame.df[self.frame.partition] if self.frame.partition else None

    @property
    def offset(self) -> Column | None:
        return self.frame.df[self.frame.offset] if self.frame.offset else None

    @property
    def timestamp(self) -> Column | None:
        return self.frame.df[self.frame.timestamp] if self.frame.timestamp else None

    @property
    def headers(self) -> Column | None:
        """ARRAY<STRUCT<key STRING, value BINARY>>, null for none."""
        return self.frame.df[self.frame.headers] if self.frame.headers else None


class Stage(ABC):
    """What transformations and predicates share.

    Created once per run, in the job's driver; `config` and `validate` are also called where there is no Spark.

    :param config: the stage's own keys, without their prefix.
    :raises ConfigError: wrong values, keyed without prefix.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config_values = self.config().parse(config)

    @property
    def needs(self) -> frozenset[str]:
        """The record parts it uses besides values: some of ``key``, ``timestamp``, ``headers``. Sinks read nothing
        else.
        """
        return EVERYTHING

    @classmethod
    @abstractmethod
    def config(cls) -> ConfigDef:
        """The keys, without prefix. Called at validation."""

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        """Rules that `config` cannot express, between keys and values; called at validation.

        :param config: the stage's own keys as texts, without prefix; each is valid on its own.
        :returns: key without prefix -> messages.
        """
        return {}


def creation_errors(stage: type[Stage], config: Mapping[str, str]) -> dict[str, list[str]]:
    """What a stage finds wrong only when it reads its keys: for its `validate`."""
    try:
        stage(config)
    except ConfigError as error:
        return error.errors
    return {}


class Transformation(Stage):
    """Changes records.

    Its expressions must never throw (use ``try_*`` functions): errors of a record are texts, see `failed`.
    """

    @abstractmethod
    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        """Change the records where `where` is true (None: all). The order and number of rows do not change.

        Called once per Spark job. The frame carries an ``error`` column; see `failed` and `dropped`.
        """


@dataclass(frozen=True)
class Change:
    """The new form of a record part of one shape.

    :param shape: the new shape; None if neither schema nor value is left.
    :param column: the new data, in a column of the shape's `spark_type`. In a schemaless shape null is "no value".
    :param error: STRING, why a record cannot be changed, null if there is no error. Its class is
        DataException, unless `with_exception` (`connect/error_cells.py`) names another one.
    """

    shape: Shape | None
    column: Column | None = None
    error: Column | None = None


class PartTransformation(Transformation):
    """Changes keys or values, shape by shape; the subclasses ``$Key`` and ``$Value`` say which."""

    part: ClassVar[Part]

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"key"}) if self.part == "key" else frozenset()

    @abstractmethod
    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        """Change the records of a shape. `column` may be null: a null with a schema that allows it.

        Return the given shape and column if nothing changes.
        """

    def change_nothing(self, rows: Rows) -> Change | None:
        """The change of records that have neither schema nor value (tombstones); None passes them through."""
        return None

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        rows = Rows(frame, scope)
        union = union_of(frame, self.part)
        changes = {
            n: self.change(shape, frame.df[name], rows)
            for n, (shape, name) in enumerate(zip(union.shapes, union.columns, strict=True))
        }
        nothing = self.change_nothing(rows) if union.absent or union.tag else None
        return changed(frame, self.part, changes, nothing, where)


class Predicate(Stage):
    """Selects the records that a transformation changes."""

    def __str__(self) -> str:
        """The condition, for errors."""
        return type(self).__name__

    @abstractmethod
    def test(self, frame: RecordFrame, scope: Scope) -> Column:
        """BOOLEAN column; null where the predicate fails: the record is then bad."""


def union_of(frame: RecordFrame, part: Part) -> Union:
    """The record part."""
    return frame.key if part == "key" else frame.value


def failed(frame: RecordFrame, error: Column | None, where: Column | None) -> RecordFrame:
    """The frame with an error added in the rows without one, where the text is not null."""
    from pyspark.sql import functions as F

    if error is None:
        return frame
    text = error if where is None else F.when(where, error)
    return frame.with_df(frame.df.withColumn("error", F.coalesce(F.col("error"), text)))


def changed(
    frame: RecordFrame,
    part: Part,
    changes: Mapping[int, Change],
    nothing: Change | None,
    where: Column | None,
) -> RecordFrame:
    """Replace a record part; rows excluded by `where` keep theirs.

    :param changes: change of each shape by its index in the union.
    :param nothing: change of rows that have neither schema nor value.
    """
    from pyspark.sql import functions as F

    union = union_of(frame, part)
    tag = F.lit(0 if union.shapes else None).cast("int") if union.tag is None else frame.df[union.tag]
    branches: list[_Branch] = []
    errors: list[tuple[Column, Column]] = []
    applies = F.lit(True) if where is None else where
    for index, change in changes.items():
        shape, column = union.shapes[index], frame.df[union.columns[index]]
        is_shape = (tag == index) if union.tag else F.lit(True)
        if where is not None:
            branches.append(_Branch(is_shape & ~where, shape, column))
        branches.append(_Branch(is_shape & applies, change.shape, change.column))
        if change.error is not None:
            errors.append((is_shape & applies, change.error))
    if nothing is not None:
        is_nothing = tag.isNull() & applies
        branches.append(_Branch(is_nothing, nothing.shape, nothing.column))
        if nothing.error is not None:
            errors.append((is_nothing, nothing.error))
    error = F.coalesce(*(F.when(condition, text) for condition, text in errors)) if errors else None
    always = union.tag is None and where is None and len(branches) == 1
    return _rebuilt(frame, part, branches, always, error)


@dataclass(frozen=True)
class _Branch:
    condition: Column
    shape: Shape | None
    column: Column | None


def _rebuilt(
    frame: RecordFrame, part: Part, branches: Sequence[_Branch], always: bool, error: Column | None = None
) -> RecordFrame:
    """A union of the branches' shapes, merging equal ones; at most one of the conditions holds.

    :param always: the only branch's condition holds in all rows.
    :param error: as of `failed`.
    """
    from pyspark.sql import functions as F

    filled = [branch for branch in branches if branch.shape is not None and branch.column is not None]
    shapes = tuple(dict.fromkeys(branch.shape for branch in filled if branch.shape is not None))
    prefix = f"{part}_{_generation(frame, part) + 1}"
    names = tuple(f"{prefix}_{n}" for n in range(len(shapes)))
    columns: dict[str, Column] = {}
    tags: list[Column] = []
    for index, (shape, name) in enumerate(zip(shapes, names, strict=True)):
        of_shape = [branch for branch in filled if branch.shape == shape]
        data = [b.column if always else F.when(b.condition, b.column) for b in of_shape if b.column is not None]
        columns[name] = F.coalesce(*data).cast(spark_type(shape.schema))
        for branch in of_shape:
            holds = branch.condition
            if shape == SCHEMALESS and branch.column is not None:
                holds = holds & branch.column.isNotNull()
            tags.append(F.when(holds, index))
    if always and shapes and shapes[0] != SCHEMALESS:
        union = Union(shapes, names)
    elif shapes:
        columns[f"{prefix}_tag"] = F.coalesce(*tags)
        union = Union(shapes, names, f"{prefix}_tag")
    else:
        union = Union()
    old = union_of(frame, part)
    if error is not None:
        columns["error"] = F.coalesce(F.col("error"), error)
    frame = frame.with_columns(columns, without=(*old.columns, *((old.tag,) if old.tag else ())))
    return replace(frame, key=union) if part == "key" else replace(frame, value=union)


def _generation(frame: RecordFrame, part: Part) -> int:
    """How often the part was rebuilt: column names must differ while both exist."""
    names = union_of(frame, part).columns
    words = names[0].split("_") if names else []
    return int(words[1]) if len(words) == 3 else 0


def data_exception(text: Column | str) -> Column:
    """An error text with the class that Connect throws for bad data."""
    return with_exception_column(DATA_EXCEPTION, text)


def with_exception_column(class_name: str, text: Column | str) -> Column:
    """An error text with the name of the Java class that Connect throws."""
    from pyspark.sql import functions as F

    return F.concat(F.lit(with_exception(class_name, "")), F.lit(text) if isinstance(text, str) else text)


def set_headers(frame: RecordFrame, headers: Column, where: Column | None) -> RecordFrame:
    """Replace the headers where `where` is true."""
    from pyspark.sql import functions as F

    old = F.col(frame.headers) if frame.headers else F.lit(None).cast(HEADERS)
    new = headers if where is None else F.when(where, headers).otherwise(old)
    return replace(frame.with_df(frame.df.withColumn("headers", new.cast(HEADERS))), headers="headers")


def set_topic(frame: RecordFrame, topic: Column, where: Column | None) -> RecordFrame:
    """Replace the topic where `where` is true."""
    from pyspark.sql import functions as F

    old = F.col(frame.topic) if frame.topic else F.lit(frame.constant_topic)
    new = topic if where is None else F.when(where, topic).otherwise(old)
    return replace(frame.with_df(frame.df.withColumn("topic", new)), topic="topic", constant_topic=None)


def set_part(frame: RecordFrame, part: Part, shapes: Iterable[tuple[Column, Shape, Column]]) -> RecordFrame:
    """Replace a record part by (condition, shape, column) branches, of which at most one holds in a row.

    Rows in which none holds have neither schema nor value.
    """
    return _rebuilt(frame, part, [_Branch(*branch) for branch in shapes], always=False)
