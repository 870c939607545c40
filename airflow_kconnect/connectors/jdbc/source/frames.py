"""Splits as a record frame: Spark's JDBC reader, one of its partitions per split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.source import ResumePoint, Split
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import ABSENT, RecordFrame, Union, single
from airflow_kconnect.connectors.jdbc.driver.connection import database_error
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.columns import finished
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.misfits import fitting
from airflow_kconnect.connectors.jdbc.source.planning import BLOCKS, ROWS
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.converters.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_FETCH_ROWS = 10_000
_TIMESTAMP, _MICROS, _ID, _BLOCK = "kts", "kmicros", "kid", "kctid"


@dataclass(frozen=True)
class Reader:
    """What reading needs besides the splits.

    :param options: for Spark's JDBC reader: driver, user, password, ...
    :param session_start: statement that each connection begins with, or nothing.
    """

    dialect: Dialect
    settings: SourceSettings
    options: Mapping[str, str]
    session_start: str

    def frame(self, spark: SparkSession, items: Sequence[tuple[Source, Split, ResumePoint]]) -> RecordFrame:
        """One Spark partition per item, in their order."""
        kinds: dict[int, set[str]] = {}
        for source, split, _ in items:
            kinds.setdefault(id(source), set()).add(split.detail["kind"])
        tables = {id(source): _TableFrame(self, source, frozenset(kinds[id(source)])) for source, *_ in items}
        groups = [(tables[key], list(group)) for key, group in groupby(items, key=lambda item: id(item[0]))]
        if len(tables) == 1:
            return _one(spark, *groups[0])
        return _several(spark, groups, list(tables.values()))


Items = Sequence[tuple[Source, Split, ResumePoint]]


def resumable(source: Source, dialect: Dialect, kind: str) -> bool:
    """Whether reading can resume after any row of a split of this kind."""
    cursor = source.cursor
    has_number = cursor.exact and cursor.id is not None
    return kind == ROWS and has_number and (cursor.timestamp is None or dialect.row_progress)


def _one(spark: SparkSession, table: _TableFrame, items: Items) -> RecordFrame:
    key = table.source.key_schema()
    return RecordFrame(
        table.rows(spark, items).select(*table.columns("value", "key"), table.progress()),
        value=single(Shape(table.source.value_schema()), "value"),
        key=ABSENT if key is None else single(Shape(key), "key"),
        constant_topic=table.source.topic,
        carried=("progress",),
    )


def _several(
    spark: SparkSession, groups: Sequence[tuple[_TableFrame, Items]], tables: Sequence[_TableFrame]
) -> RecordFrame:
    """Tables as shapes of one frame: a column per table, and a tag that says which one a row has."""
    from pyspark.sql import functions as F

    with_keys = any(table.source.key for table in tables)
    df: DataFrame | None = None
    for own, items in groups:
        columns = [F.lit(tables.index(own)).alias("shape"), F.lit(own.source.topic).alias("topic")]
        for n, table in enumerate(tables):
            names = f"value{n}", f"key{n}"
            columns += table.columns(*names) if table is own else table.nulls(*names)
        rows = own.rows(spark, items).select(*columns, own.progress())
        df = rows if df is None else df.union(rows)
    assert df is not None
    numbers = range(len(tables))
    values = tuple(Shape(table.source.value_schema()) for table in tables)
    keys = tuple(Shape(table.source.key_schema()) for table in tables)
    return RecordFrame(
        df,
        value=Union(values, tuple(f"value{n}" for n in numbers), "shape"),
        key=Union(keys, tuple(f"key{n}" for n in numbers), "shape") if with_keys else ABSENT,
        topic="topic",
        carried=("progress",),
    )


class _TableFrame:
    """The rows of one table.

    :param kinds: the kinds of its splits.
    """

    def __init__(self, reader: Reader, source: Source, kinds: frozenset[str]) -> None:
        self.source, self._reader, self._dialect, self._kinds = source, reader, reader.dialect, kinds
        self._has_progress = all(resumable(source, reader.dialect, kind) for kind in kinds)

    def rows(self, spark: SparkSession, items: Items) -> DataFrame:
        """Spark's reader over a sub-select; column n of the table is ``c<n>``."""
        from py4j.protocol import Py4JJavaError

        reader, quote, selected = self._reader, self._dialect.quote, self._selected()
        options = {
            **reader.options,
            "fetchsize": str(_FETCH_ROWS),
            # The predicates below are the only ones, and stand where we put them.
            "pushDownPredicate": "false",
            "customSchema": ", ".join(f"{name} {type_}" for name, _, type_ in selected),
            **({"sessionInitStatement": reader.session_start} if reader.session_start else {}),
            **self._dialect.read_options,
        }
        terms = [(name, term) for name, term, _ in selected] + self._hidden([name for name, *_ in selected])
        projection = ", ".join(f"{term} AS {quote(name)}" for name, term in terms)
        query = f"(SELECT {projection} FROM {self.source.relation} {quote('t')}) {quote('s')}"
        predicates = [self._predicate(split, at) for _, split, at in items]
        try:
            return spark.read.jdbc(reader.settings.url.text, query, predicates=predicates, properties=options)
        except Py4JJavaError as error:
            what = f"describing {self.source.text} for Spark"
            raise database_error(reader.settings.account, what, error.java_exception) from None

    def _selected(self) -> list[tuple[str, str, str]]:
        """(alias, term, Spark's type) of the columns that Spark reads."""
        columns = [(f"c{n}", reading.sql, reading.wire) for n, reading in enumerate(self.source.readings)]
        cursor = self.source.cursor
        if self._has_progress and cursor.id:
            columns.append((_ID, cursor.id, "bigint"))
            if cursor.timestamp:
                columns.append((_MICROS, self._dialect.cursor_micros(self.source.timestamps), "bigint"))
        return columns

    def _hidden(self, selected: Sequence[str]) -> list[tuple[str, str]]:
        """(alias, term) of what only the predicates use; Spark never selects them."""
        cursor = self.source.cursor
        block = "ctid" if BLOCKS in self._kinds else None
        terms = [(_TIMESTAMP, cursor.timestamp), (_ID, cursor.id), (_BLOCK, block)]
        return [(name, term) for name, term in terms if term and name not in selected]

    def _predicate(self, split: Split, at: ResumePoint) -> str:
        quote = self._dialect.quote
        if split.detail["kind"] == BLOCKS:
            block = quote(_BLOCK)
            return f"{block} >= '({split.start},0)'::tid AND {block} < '({split.end},0)'::tid"
        if split.detail["kind"] != ROWS:
            return "1 = 1"
        cursor = self.source.cursor
        aliased = replace(cursor, timestamp=cursor.timestamp and quote(_TIMESTAMP), id=cursor.id and quote(_ID))
        return f"{aliased.after(Position.of(at))} AND {aliased.until(Position.of(split.end))}{aliased.order}"

    def columns(self, value: str, key: str) -> list[Column]:
        """Value and key (if there is one) of the rows."""
        from pyspark.sql import functions as F

        fields = {r.name: self._field(n).alias(r.name) for n, r in enumerate(self.source.readings)}
        columns = [F.struct(*fields.values()).alias(value)]
        if self.source.key:
            columns.append(F.struct(*(fields[name] for name in self.source.key)).alias(key))
        return columns

    def nulls(self, value: str, key: str) -> list[Column]:
        """The same columns in the rows of another table."""
        from pyspark.sql import functions as F

        parts = [(value, self.source.value_schema()), (key, self.source.key_schema())]
        return [F.lit(None).cast(spark_type(schema)).alias(name) for name, schema in parts if schema is not None]

    def _field(self, n: int) -> Column:
        from pyspark.sql import functions as F

        settings, reading = self._reader.settings, self.source.readings[n]
        read = fitting(reading, F.col(f"c{n}"), self.source.text)
        return finished(reading, read, settings.granularity, settings.zone_name)

    def progress(self) -> Column:
        """Where reading can resume after a row; null where it cannot."""
        from pyspark.sql import functions as F

        has_timestamp = self.source.cursor.timestamp is not None
        if not self._has_progress:
            return F.lit(None).cast("string" if has_timestamp else "bigint").alias("progress")
        number = F.col(_ID)
        if has_timestamp:
            number = F.concat(F.col(_MICROS).cast("string"), F.lit("000:"), number.cast("string"))
        return number.alias("progress")
