"""The results of SQL expressions for the records of a case: a Connect shape, a column, and errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config.validators import invalid
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.expressions.fields import no_object, object_of, or_null
from airflow_kconnect.transforms.expressions.schemaless import members
from airflow_kconnect.transforms.sql.catalyst import (
    Catalyst,
    SQLError,
    Tree,
    alias_of,
    names_in,
    path_of,
    readable,
    star_of,
)
from airflow_kconnect.transforms.sql.schemas import connect_schema, is_schemaless
from airflow_kconnect.transforms.sql.scope import NAMES, PARTS, Case
from airflow_kconnect.transforms.sql.text import split

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Item:
    """One expression of a list.

    :param name: of the resulting member.
    :param star: path to a struct or object, all members of which are selected.
    :param path: the parts if the expression is just a dotted name.
    """

    text: str
    tree: Tree
    name: str | None
    star: list[str] | None
    path: list[str] | None


@dataclass(frozen=True)
class Expression:
    """The value of a key: one expression, or a list that makes a struct.

    :param items: more than one, or with names, if it is a list.
    """

    key: str
    items: tuple[Item, ...]
    is_list: bool

    @property
    def names(self) -> set[str]:
        """The names that it refers to."""
        return set().union(*({item.star[0]} if item.star else names_in(item.tree) for item in self.items))


@dataclass(frozen=True)
class Result:
    """The result of an expression for some rows.

    :param shape: the results' shape; None if there are none.
    :param column: the results, in the shape's `spark_type`; null is "nothing".
    :param error: STRING, why there is no result.
    """

    shape: Shape | None = None
    column: Column | None = None
    error: Column | None = None


@dataclass(frozen=True)
class _Member:
    """Part of a result.

    :param name: None: the column is a MAP<STRING, VARIANT> of all members of an object.
    :param schema: None: it is schemaless.
    :param error: STRING, why it has no value.
    """

    name: str | None
    column: Column
    type: DataType
    schema: ConnectSchema | None
    error: Column | None = None


class Results:
    """Computes expressions over the rows of a frame.

    Intermediate results are columns: key and value may be replaced before everything that depends on them has been.
    """

    def __init__(self, frame: RecordFrame, catalyst: Catalyst) -> None:
        self._frame, self._catalyst = frame, catalyst
        self._columns: list[dict[str, Column]] = [{}, {}, {}]

    def rows(self, condition: Column) -> Column:
        """The condition, computed before the results."""
        return self._column(0, condition)

    def final(self, column: Column) -> Column:
        """A column made from results, computed once."""
        return self._column(2, column)

    def _column(self, stage: int, column: Column) -> Column:
        from pyspark.sql import functions as F

        name = f"sql_{stage}_{len(self._columns[stage])}"
        self._columns[stage][name] = column
        return F.col(name)

    def with_columns(self) -> RecordFrame:
        """The frame with the columns to which results refer; see `without_columns`."""
        return self._frame.with_df(reduce(lambda df, columns: df.withColumns(columns), self._columns, self._frame.df))

    def without_columns(self, frame: RecordFrame) -> RecordFrame:
        """The frame without them."""
        return frame.with_df(frame.df.drop(*(name for columns in self._columns for name in columns)))

    def of(self, expression: Expression, case: Case, rows: Column) -> Result:
        """The results in the rows of a case.

        :param rows: the rows of the case to which the expression applies.
        :raises ConfigError: the result depends on more than the record.
        """
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as F

        try:
            evaluated = [member for item in expression.items for member in self._members(expression, item, case, rows)]
            return self._list(evaluated) if expression.is_list else self._single(evaluated[0])
        except (AnalysisException, DataError) as error:
            if case.is_partial:
                return Result()
            return Result(error=F.when(rows, F.lit(f"{expression.key}: {readable(error)}")))
        except SQLError as error:
            raise invalid(expression.key, ", ".join(item.text for item in expression.items), str(error)) from error

    def _members(self, expression: Expression, item: Item, case: Case, rows: Column) -> Iterator[_Member]:
        if item.star:
            yield from self._all_members(expression, item.star, case, rows)
            return
        schema = case.schema_of(item.path) if item.path else None
        if item.path and schema:
            yield _Member(item.name, case.column_of(item.path), spark_type(schema), schema)
            return
        column = self._catalyst.bind(item.tree, case)
        field = self._catalyst.analysed(self._frame.df, column)
        schema = None if is_schemaless(field.dataType) else connect_schema(field.dataType, optional=field.nullable)
        member = _Member(item.name, column, field.dataType, schema)
        yield member if item.path else self._tried(member, f"{expression.key}: {item.text} fails", rows)

    def _tried(self, member: _Member, text: str, rows: Column) -> _Member:
        from pyspark.sql import functions as F

        tried = self._column(1, F.when(rows, self._catalyst.tried(member.column)))
        return replace(member, column=tried["v"], error=F.when(rows & tried.isNull(), F.lit(text)))

    def _all_members(self, expression: Expression, path: list[str], case: Case, rows: Column) -> Iterator[_Member]:
        from pyspark.sql import functions as F
        from pyspark.sql import types as spark

        name = ".".join(path)
        if case.is_schemaless(path[0]):
            column = case.column_of(path)
            error = F.concat(F.lit(f"{expression.key}: {name}.*: "), no_object(column, "SQL"))
            type_ = spark.MapType(spark.StringType(), spark.VariantType())
            yield _Member(None, members(column), type_, None, F.when(rows, error))
            return
        schema = case.schema_of(path)
        if schema is None or schema.type is not SchemaType.STRUCT:
            raise DataError(f"{name} is not a struct")
        for field in schema.fields:
            inner = [*path, field.name]
            yield _Member(field.name, case.column_of(inner), spark_type(field.schema), case.schema_of(inner))

    def _single(self, member: _Member) -> Result:
        from pyspark.sql.types import NullType

        if isinstance(member.type, NullType):
            return Result(error=member.error)
        if member.schema is None:
            return Result(SCHEMALESS, or_null(_as_variant(member)), member.error)
        return Result(Shape(replace(member.schema, optional=False)), member.column, member.error)

    def _list(self, evaluated: list[_Member]) -> Result:
        from pyspark.sql import functions as F

        errors = [member.error for member in evaluated if member.error is not None]
        error = F.coalesce(*errors) if errors else None
        if any(member.schema is None for member in evaluated):
            return Result(SCHEMALESS, object_of(F.map_concat(*map(_as_entries, evaluated))), error)
        # If two members have the same name, the last one wins.
        by_name = {str(member.name): member for member in evaluated}
        schema = struct(*((name, member.schema) for name, member in by_name.items() if member.schema))
        return Result(Shape(schema), F.struct(*(m.column.alias(name) for name, m in by_name.items())), error)


def parsed(catalyst: Catalyst, texts: dict[str, str]) -> dict[str, Expression]:
    """The expressions of a configuration.

    :param texts: key -> expression or list.
    :raises ConfigError: with all errors.
    """
    expressions: dict[str, Expression] = {}
    errors: dict[str, list[str]] = {}
    for key, text in texts.items():
        try:
            expressions[key] = _expression(catalyst, key, text)
        except SQLError as error:
            errors |= invalid(key, text, str(error)).errors
    if errors:
        raise ConfigError(errors)
    return expressions


def _expression(catalyst: Catalyst, key: str, text: str) -> Expression:
    items, is_list = [], False
    for part in split(text):
        tree, name, has_alias = alias_of(catalyst.parse(part))
        star = star_of(tree)
        items.append(Item(part, tree, name, star, path_of(tree)))
        is_list = is_list or has_alias or star is not None
    is_list = is_list or len(items) > 1
    for item in items:
        _check(item, is_list)
    return Expression(key, tuple(items), is_list)


def _check(item: Item, is_list: bool) -> None:
    """:raises SQLError: the names used in it, or its own name, are wrong."""
    if item.star is not None:
        if not item.star or item.star[0] not in PARTS:
            raise SQLError(f"{item.text}: only value.* and key.* are known")
        return
    if unknown := sorted(names_in(item.tree) - set(NAMES)):
        raise SQLError(f"Unknown name {unknown[0]}; the names are {', '.join(NAMES)}")
    if is_list and not item.name:
        raise SQLError(f"{item.text}: in a list it needs a name: {item.text} AS name")


def _as_entries(member: _Member) -> Column:
    """MAP<STRING, VARIANT>."""
    from pyspark.sql import functions as F

    return member.column if member.name is None else F.create_map(F.lit(member.name), _as_variant(member))


def _as_variant(member: _Member) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql import types as spark

    if isinstance(member.type, spark.StructType | spark.ArrayType | spark.MapType):
        return F.to_variant_object(member.column)
    return member.column if isinstance(member.type, spark.VariantType) else member.column.cast("variant")
