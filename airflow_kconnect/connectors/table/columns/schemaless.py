"""The columns for schemaless values, from what Spark says is in them: one aggregation over the records of a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame
from airflow_kconnect.connectors.table.columns.variants import Place
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.types import merged

FIELDS_MAX = 5_000
"""More fields are not columns: their names are data."""
_TYPES: dict[str, T.DataType | None] = {
    "VOID": None,
    "BOOLEAN": T.BooleanType(),
    "BIGINT": T.LongType(),
    "DECIMAL": T.DoubleType(),  # fractions in JSON: Spark keeps their digits, for Connect they are doubles
    "FLOAT": T.DoubleType(),
    "DOUBLE": T.DoubleType(),
    "STRING": T.StringType(),
    "BINARY": T.BinaryType(),
    "DATE": T.DateType(),
    "TIMESTAMP": T.TimestampType(),
    "TIMESTAMP_NTZ": T.TimestampNTZType(),
    "VARIANT": T.StringType(),  # different types
}
_TOKEN = re.compile(r"`((?:[^`]|``)*)`|([A-Za-z0-9_]+)|([<>,:])|\(\d+,\d+\)")
_EXPECTED: dict[type[T.DataType], SchemaType] = {
    T.BooleanType: SchemaType.BOOLEAN,
    T.ByteType: SchemaType.INT8,
    T.ShortType: SchemaType.INT16,
    T.IntegerType: SchemaType.INT32,
    T.LongType: SchemaType.INT64,
    T.DoubleType: SchemaType.FLOAT64,
    T.StringType: SchemaType.STRING,
    # What their texts say, as it is for VARIANT.
    T.DecimalType: SchemaType.STRING,
    T.DateType: SchemaType.STRING,
    T.TimestampType: SchemaType.STRING,
    T.TimestampNTZType: SchemaType.STRING,
}
_NARROW = (T.ByteType, T.ShortType, T.IntegerType)


def inferred_columns(
    frame: RecordFrame, name: str, known: T.StructType | None, other: str, fold: Callable[[str], str]
) -> T.StructType:
    """The columns for the members of schemaless objects, and one for values that are none. Members that are always null
    or empty have none yet.

    Columns that the table has keep their types and stay required, unless there are integers that they cannot hold, or
    records without them.

    :param name: column of the frame with the values. :param other: of the table, for values that are not objects.
    """
    value = F.col(quoted(name))
    # No filter: Spark would evaluate everything twice, in it and after it.
    good = F.when(F.col("error").isNull(), value) if "error" in frame.carried else value
    rows, value = frame.df.select(good.alias("value")), F.col("value")
    doubts = _Doubts(value, known, folded=fold is not str)
    found = _aggregated(rows, [F.schema_of_variant_agg(value), *doubts.questions])
    type_ = type_of(found[0])
    if found[0] == "VARIANT":
        type_ = _of_mixed(rows, value, other)
    if type_ is None:
        return doubts.settled(T.StructType(), found[1:], fold)
    if not isinstance(type_, T.StructType):
        type_ = T.StructType([T.StructField(other, type_)])
    if (count := _count(type_)) > FIELDS_MAX:
        raise DataError(
            f"schemaless values have {count:,} different fields, more than {FIELDS_MAX:,}: names that are data are not"
            " columns. Write the values as a whole into one column"
        )
    return doubts.settled(type_, found[1:], fold)


def expected_objects(columns: T.StructType, *, strict: bool, required: bool) -> ExpectedObjects | None:
    """Objects whose members all fit into the columns; None: there are columns whose values are looked at one by one.

    :param strict: other members are not ignored. :param required: columns may become nullable.
    """
    schema = _expected(columns)
    names = tuple(each.name for each in columns.fields if not each.nullable) if required else ()
    return None if schema is None else ExpectedObjects(schema, strict, names)


def _expected(type_: T.DataType) -> ConnectSchema | None:
    match type_:
        case T.StructType():
            members = [(each.name, _expected(each.dataType)) for each in type_.fields]
            known = [(name, schema) for name, schema in members if schema is not None]
            return struct(*known, optional=True) if known and len(known) == len(members) else None
        case T.ArrayType():
            items = _expected(type_.elementType)
            return None if items is None else ConnectSchema(SchemaType.ARRAY, optional=True, value_schema=items)
    found = _EXPECTED.get(type(type_))
    return None if found is None else ConnectSchema(found, optional=True)


def type_of(text: str | None) -> T.DataType | None:
    """The type of a column for what `schema_of_variant` says; None: there is nothing but nulls and empty values."""
    if text is None:
        return None
    tokens = [found for found in _TOKEN.finditer(text)]
    return _Parser(tokens).type()


class _Parser:
    """Reads ``OBJECT<name: BIGINT, `odd name`: ARRAY<STRING>>``."""

    def __init__(self, tokens: list[re.Match[str]]) -> None:
        self._tokens, self._next = tokens, 0

    def type(self) -> T.DataType | None:
        word = self._take()
        if word == "OBJECT":
            return self._object()
        if word == "ARRAY":
            self._take()
            element = self.type()
            self._take()
            return None if element is None else T.ArrayType(element)
        if self._peek().startswith("("):
            self._take()
        return _TYPES.get(word, T.StringType())

    def _object(self) -> T.DataType | None:
        fields = []
        self._take()
        while self._peek() != ">":
            name = self._name()
            self._take()
            type_ = self.type()
            fields += [] if type_ is None else [T.StructField(name, type_)]
            if self._peek() == ",":
                self._take()
        self._take()
        return T.StructType(fields) if fields else None

    def _name(self) -> str:
        token = self._tokens[self._next]
        self._next += 1
        return token[0] if token[1] is None else token[1].replace("``", "`")

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1][0]

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""


class _Doubts:
    """What the aggregation has to find out about columns of the table: whether integers fit, and whether there are
    nulls.
    """

    def __init__(self, value: Column, known: T.StructType | None, *, folded: bool) -> None:
        columns = list(_leaves((), Place(value, folded=folded), known)) if known is not None else []
        self._value, self._known = value, known
        self._narrow = [(path, place, type_) for path, place, type_, _ in columns if isinstance(type_, _NARROW)]
        self._required = [(path, place) for path, place, _, nullable in columns if not nullable]

    @property
    def questions(self) -> list[Column]:
        """Counts, to be aggregated."""
        beyond = [F.count_if(p.get("bigint").isNotNull() & p.get(t).isNull()) for _, p, t in self._narrow]
        return beyond + [F.count_if(self._value.isNotNull() & ~place.is_given) for _, place in self._required]

    def settled(self, found: T.StructType, answers: list[Any], fold: Callable[[str], str]) -> T.StructType:
        """The columns of the table and those that were found."""
        if self._known is None:
            return found
        wide = {path for (path, *_), count in zip(self._narrow, answers, strict=False) if count}
        lacking = {path for (path, _), count in zip(self._required, answers[len(self._narrow) :], strict=True) if count}
        united = merged("", self._known, found, lambda _, known, __: known, fold)
        assert isinstance(united, T.StructType)
        return _with_answers((), united, self._known, wide, lacking)


def _leaves(
    path: tuple[str, ...], place: Place, type_: T.StructType
) -> Iterator[tuple[tuple[str, ...], Place, T.DataType, bool]]:
    """All columns and members of structs."""
    for each in type_.fields:
        inner, there = (*path, each.name), place.member(each.name)
        yield inner, there, each.dataType, each.nullable or bool(path)
        if isinstance(each.dataType, T.StructType):
            yield from _leaves(inner, there, each.dataType)


def _with_answers(
    path: tuple[str, ...],
    united: T.StructType,
    known: T.StructType,
    wide: set[tuple[str, ...]],
    lacking: set[tuple[str, ...]],
) -> T.StructType:
    fields = []
    for each in united.fields:
        inner = (*path, each.name)
        if each.name not in known.names:
            fields.append(each)
            continue
        had = known[each.name]
        type_ = T.LongType() if inner in wide else each.dataType
        if isinstance(type_, T.StructType) and isinstance(had.dataType, T.StructType):
            type_ = _with_answers(inner, type_, had.dataType, wide, lacking)
        fields.append(T.StructField(each.name, type_, had.nullable or inner in lacking, had.metadata))
    return T.StructType(fields)


def _of_mixed(rows: DataFrame, value: Column, name: str) -> T.StructType:
    """The columns of objects, and the one of that name of other values, where there are both."""
    is_object = Place(value).kind == "OBJECT"
    objects, others = _aggregated(
        rows,
        [F.schema_of_variant_agg(F.when(is_object, value)), F.schema_of_variant_agg(F.when(~is_object, value))],
    )
    type_, other = type_of(objects), type_of(others)
    fields = list(type_.fields) if isinstance(type_, T.StructType) else []
    if other is not None and name not in (each.name for each in fields):
        fields.append(T.StructField(name, other))
    return T.StructType(fields)


def _aggregated(rows: DataFrame, columns: list[Column]) -> list[Any]:
    return list(rows.agg(*(column.alias(f"c{n}") for n, column in enumerate(columns))).collect()[0])


def _count(type_: T.DataType) -> int:
    match type_:
        case T.StructType():
            return sum(1 + _count(each.dataType) for each in type_.fields)
        case T.ArrayType():
            return _count(type_.elementType)
    return 0
