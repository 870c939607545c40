"""The record frame: a Spark DataFrame whose rows are Connect records (docs/concepts.md).

It belongs to the model because connectors create frames and transformations rewrite them; Spark is only named here,
never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, Shape

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Union:
    """A record part (key or value) as a tagged union of shapes.

    :param shapes: the shapes that rows may have.
    :param columns: one nullable column of the frame per shape.
    :param tag: int column with the index of each row's shape; null means "no schema, no value" (a tombstone). None when
        there is exactly one shape and every row has it.
    """

    shapes: tuple[Shape, ...] = ()
    columns: tuple[str, ...] = ()
    tag: str | None = None

    @property
    def absent(self) -> bool:
        """Whether no row has this part at all."""
        return not self.shapes


ABSENT = Union()


def single(shape: Shape, column: str) -> Union:
    """A part that has the same shape in every row."""
    return Union((shape,), (column,))


@dataclass(frozen=True)
class ExpectedObjects:
    """What values without a schema probably are.

    :param schema: of structs, in which everything may be null.
    :param strict: there are no other members.
    :param required: members that are never null.
    """

    schema: ConnectSchema
    strict: bool = True
    required: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordFrame:
    """Rows that are Connect records; the order of rows within a Spark partition is their order.

    :param df: the rows.
    :param value: the records' values.
    :param key: the records' keys.
    :param topic: name of a string column, or None if all rows go to (or come from) `constant_topic`.
    :param timestamp: name of a long column, ms since the epoch, or None for "now".
    :param headers: name of an array<struct<key string, value binary>> column, or None.
    :param partition: name of an int column with the Kafka partition, or None.
    :param carried: other columns that are passed through unchanged (``split``, ``progress``, ``kafka_offset``,
        ``error`` ...).
    :param replayed_offset: name of a long column with the offsets that records had before they became dead letters:
        ``kafka_offset`` then is that of the dead letter. None: they are not dead letters.
    """

    df: DataFrame
    value: Union
    key: Union = ABSENT
    topic: str | None = None
    constant_topic: str | None = None
    timestamp: str | None = None
    headers: str | None = None
    partition: str | None = None
    carried: tuple[str, ...] = ()
    replayed_offset: str | None = None

    @property
    def offset(self) -> str | None:
        """Name of the column with the Kafka offset that belongs to topic and partition, or None."""
        return self.replayed_offset or ("kafka_offset" if "kafka_offset" in self.carried else None)

    def with_df(self, df: DataFrame) -> RecordFrame:
        """The same frame over other rows."""
        return replace(self, df=df)

    def with_columns(self, columns: Mapping[str, Column], without: Collection[str] = ()) -> RecordFrame:
        """The same frame with columns added or replaced, and without others.

        A single projection, unlike `withColumns` and `drop`: Spark analyses the whole plan again for each.
        """
        unchanged = [self.df[f"`{name}`"] for name in self.df.columns if name not in columns and name not in without]
        return self.with_df(self.df.select(*unchanged, *(column.alias(name) for name, column in columns.items())))


@dataclass(frozen=True)
class BatchFrame:
    """Records that Python makes as Arrow batches: where nothing else needs Spark, it is not started for them.

    The other parameters are those of a `RecordFrame`; columns have the Arrow types of their Spark types, but data
    without a schema are JSON texts.

    :param read: yields the batches of a split, by its index among those that were asked for; pickled.
    :param schema: of the batches.
    """

    read: Callable[[int], Generator[pa.RecordBatch, None, None]]
    schema: pa.Schema
    value: Union
    key: Union = ABSENT
    topic: str | None = None
    constant_topic: str | None = None
    timestamp: str | None = None
    headers: str | None = None
    partition: str | None = None
    carried: tuple[str, ...] = ()

    def over(self, df: DataFrame) -> RecordFrame:
        """The same records as rows of Spark."""
        return RecordFrame(df, **{each.name: getattr(self, each.name) for each in fields(self)[2:]})
