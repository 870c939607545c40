"""SQL: sets keys, values, topics and timestamps by Spark SQL expressions; Kafka Connect has no such transformation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.types import logical_name
from airflow_kconnect.transforms.base import (
    EVERYTHING,
    Part,
    Rows,
    Scope,
    Transformation,
    failed,
    set_part,
    set_topic,
)
from airflow_kconnect.transforms.expressions.fields import rows_by_shape
from airflow_kconnect.transforms.sql.catalyst import Catalyst
from airflow_kconnect.transforms.sql.results import Expression, Result, Results, parsed
from airflow_kconnect.transforms.sql.scope import PARTS, cases
from airflow_kconnect.transforms.sql.text import list_validator, single_validator, words

if TYPE_CHECKING:
    from pyspark.sql import Column

_APPLIES = "sql_applies"
_LISTS = {
    "value": "Expression for the value, or a list of them with names: then the value is a struct or an object of them.",
    "key": "Expression for the key, or a list of them with names: then the key is a struct or an object of them.",
}
_SINGLES = {
    "topic": "Expression for the topic: a string.",
    "timestamp": "Expression for the timestamp: a timestamp, a date, or milliseconds since 1970.",
    "where": "Condition; records for which it is not true are dropped.",
}


@dataclass(frozen=True)
class _Outcome:
    """A result and the rows to which it applies."""

    rows: Column
    result: Result


class SQL(Transformation):
    """``airflow_kconnect.transforms.SQL``. All expressions see the original record."""

    @classmethod
    def config(cls) -> ConfigDef:
        config = ConfigDef()
        for key, text in _LISTS.items():
            config.define(key, Type.STRING, None, Importance.HIGH, text, validator=list_validator())
        for key, text in _SINGLES.items():
            config.define(key, Type.STRING, None, Importance.MEDIUM, text, validator=single_validator())
        return config

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        keys = (*_LISTS, *_SINGLES)
        return {} if config.keys() & {*keys} else {"value": [f"No expression: set at least one of {', '.join(keys)}"]}

    @property
    def needs(self) -> frozenset[str]:
        return EVERYTHING & set().union(*map(words, self._texts.values()))

    @property
    def _texts(self) -> dict[str, str]:
        return {key: text for key, text in self.config_values.items() if text is not None}

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        if where is not None:
            # It may use parts that are replaced before everything that depends on it has been.
            frame = frame.with_df(frame.df.withColumn(_APPLIES, where))
            where = frame.df[_APPLIES]
        catalyst = Catalyst(frame.df.sparkSession)
        results = Results(frame, catalyst)
        applies = {"value": _present(frame, where)}
        outcomes = {
            key: _outcomes(expression, Rows(frame, scope), results, applies.get(key, where))
            for key, expression in parsed(catalyst, self._texts).items()
        }
        changed = results.without_columns(_changed(results.with_columns(), outcomes, where, scope))
        return changed.with_df(changed.df.drop(_APPLIES))


def _present(frame: RecordFrame, where: Column | None) -> Column:
    """The rows whose values can be changed: tombstones stay as they are."""
    from pyspark.sql import Column
    from pyspark.sql import functions as F

    present = reduce(Column.__or__, (frame.df[name].isNotNull() for name in frame.value.columns), F.lit(False))
    return present if where is None else present & where


def _outcomes(expression: Expression, rows: Rows, results: Results, applies: Column | None) -> list[_Outcome]:
    outcomes = []
    for case in cases(rows, expression.names):
        holds = results.rows(case.holds if applies is None else case.holds & applies)
        result = _typed(expression.key, results.of(expression, case, holds), holds)
        column = None if result.column is None else results.final(result.column)
        outcomes.append(_Outcome(holds, replace(result, column=column)))
    return outcomes


def _typed(key: str, result: Result, rows: Column) -> Result:
    """A result of the type that the key requires."""
    from pyspark.sql import functions as F

    if key in PARTS or result.shape is None or result.column is None:
        return result
    expected, convert = _TYPES[key]
    column = convert(result.shape.schema, result.column) if result.shape.schema else None
    if column is not None:
        return replace(result, column=column)
    actual = result.shape.schema.type.name if result.shape.schema else "a value without schema, which needs a cast"
    return Result(error=F.when(rows, F.lit(f"{key}: expected {expected}, found {actual}")))


def _changed(
    frame: RecordFrame, outcomes: Mapping[str, list[_Outcome]], where: Column | None, scope: Scope
) -> RecordFrame:
    from pyspark.sql import functions as F

    errors = list(_errors(outcomes))
    frame = failed(frame, F.coalesce(*errors) if errors else None, None)
    for part in PARTS:
        if part in outcomes:
            frame = set_part(frame, part, _branches(frame, part, outcomes[part], where))
    if "topic" in outcomes:
        topic = F.coalesce(_column(outcomes["topic"], "string"), Rows(frame, scope).topic)
        frame = set_topic(frame, topic, where)
    return _with_timestamp(frame, outcomes["timestamp"], where) if "timestamp" in outcomes else frame


def _errors(outcomes: Mapping[str, list[_Outcome]]) -> Iterator[Column]:
    """Why records fail, or that they are dropped, in this order: a dropped record might otherwise fail."""
    from pyspark.sql import functions as F

    for key in sorted(outcomes, key=("where", *_LISTS, "topic", "timestamp").index):
        results = outcomes[key]
        yield from (outcome.result.error for outcome in results if outcome.result.error is not None)
        for outcome in results:
            if key == "where":
                condition = F.coalesce(_column([outcome], "boolean"), F.lit(False))
                yield F.when(outcome.rows & ~condition, F.lit(DROPPED))
            if key == "topic":
                name = F.coalesce(_column([outcome], "string"), F.lit(""))
                yield F.when(outcome.rows & (name == ""), F.lit("topic: the expression gives no name"))


def _branches(
    frame: RecordFrame, part: Part, outcomes: list[_Outcome], where: Column | None
) -> Iterator[tuple[Column, Shape, Column]]:
    """The new shapes of a part, and the old ones for rows that keep theirs."""
    from pyspark.sql import Column

    changes = reduce(Column.__or__, (outcome.rows for outcome in outcomes))
    for of_shape, shape, column in rows_by_shape(frame, part):
        # Schemaless nulls have no schema to keep.
        may_be_null = shape.schema is not None and (shape.schema.optional or shape.schema.default is not None)
        if where is not None or (part == "value" and may_be_null):
            yield of_shape & ~changes, shape, column
    for rows, result in ((outcome.rows, outcome.result) for outcome in outcomes):
        if result.shape is not None and result.column is not None:
            yield rows & result.column.isNotNull(), result.shape, result.column


def _column(outcomes: list[_Outcome], type_: str) -> Column:
    from pyspark.sql import functions as F

    columns = [F.when(o.rows, o.result.column) for o in outcomes if o.result.column is not None]
    return F.coalesce(*columns, F.lit(None).cast(type_))


def _with_timestamp(frame: RecordFrame, outcomes: list[_Outcome], where: Column | None) -> RecordFrame:
    from pyspark.sql import functions as F

    new = _column(outcomes, "bigint")
    if where is not None:
        old = F.col(frame.timestamp) if frame.timestamp else F.lit(None).cast("bigint")
        new = F.when(where, new).otherwise(old)
    return replace(frame.with_df(frame.df.withColumn("timestamp", new)), timestamp="timestamp")


def _milliseconds(schema: ConnectSchema, column: Column) -> Column | None:
    from pyspark.sql import functions as F

    if logical_name(schema) in (TIMESTAMP, DATE):
        return F.unix_millis(column.try_cast("timestamp"))
    is_number = schema.type in (SchemaType.INT64, SchemaType.INT32) and logical_name(schema) is None
    return column.cast("bigint") if is_number else None


def _of_type(type_: SchemaType) -> _Conversion:
    return lambda schema, column: column if schema.type is type_ else None


_Conversion = Callable[[ConnectSchema, "Column"], "Column | None"]
_TYPES: Mapping[str, tuple[str, _Conversion]] = {
    "where": ("BOOLEAN", _of_type(SchemaType.BOOLEAN)),
    "topic": ("STRING", _of_type(SchemaType.STRING)),
    "timestamp": ("a timestamp or INT64", _milliseconds),
}
