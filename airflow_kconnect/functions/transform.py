"""`@transform`: a function of a record becomes a transformation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin, overload

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import DROPPED
from airflow_kconnect.connect.errors import DataError, named
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.arrow_functions import arrow_function
from airflow_kconnect.converters.types import arrow_type, spark_type
from airflow_kconnect.functions.decorated import Decorated, P, R, decorated
from airflow_kconnect.functions.parameters import (
    Parameter,
    arguments,
    define,
    first_parameter,
    hints_of,
    parameters_of,
    refuse_unawaited,
)
from airflow_kconnect.functions.schemas import is_data_class, plain, schema_of
from airflow_kconnect.transforms.base import Change, Scope, Transformation, changed, data_exception, union_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column


@dataclass(frozen=True)
class TransformSpec:
    """What a decorator was told about a function.

    :param of_batches: whether it takes and returns lists.
    :param schema: of what it returns; None: that of what it gets.
    """

    function: Callable[..., Any]
    of_batches: bool
    schema: ConnectSchema | None
    parameters: tuple[Parameter, ...]


@overload
def transform(function: Callable[P, R]) -> Decorated[P, R]: ...
@overload
def transform() -> Callable[[Callable[P, R]], Decorated[P, R]]: ...
def transform(function: Callable[..., Any] | None = None) -> Any:
    """Make a transformation of a function that gets the value of a record, a dict, and returns its new value.

    It may return the same dict, changed; None drops the record. If it takes and returns a list of dicts
    (``list[dict]``), it gets a batch of Spark, and returns as many; if it raises, it is called
    again with each of them alone. The other parameters are the transformation's keys, as those of `source` are.

    With a schema, what it returns has the same schema, or that of the data class that it is annotated to return.
    Tombstones are not passed to it.

    Records leave Spark's JVM for it: this costs some 4 microseconds of a core for each, where a column expression costs
    0.3 (three short texts, `benchmarks.functions`). See docs/guides/own-transformations.md.

    :raises TypeError: the function cannot be a transformation.
    """

    def decorate(function: Callable[P, R]) -> Decorated[P, R]:
        refuse_unawaited(function)
        hints = hints_of(function)
        first = hints.get(first_parameter(function))
        returned = hints.get("return")
        members = [each for each in (returned, *get_args(returned)) if isinstance(each, type) and is_data_class(each)]
        schema = schema_of(members[0]) if members else None
        spec = TransformSpec(function, get_origin(first) is list, schema, _keys_of(function))
        return decorated(function, FunctionTransformation, spec)

    return decorate if function is None else decorate(function)


def _keys_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    return parameters_of(function, (), first=1, taken=("type", "predicate", "negate"))


class FunctionTransformation(Transformation):
    """What `@transform` makes of a function; `spec` is in a subclass for each."""

    spec: ClassVar[TransformSpec]

    @classmethod
    def config(cls) -> ConfigDef:
        return define(ConfigDef(), cls.spec.parameters)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        union = union_of(frame, "value")
        given = arguments(self.spec.parameters, self.config_values)
        calls = {}
        for n, (shape, name) in enumerate(zip(union.shapes, union.columns, strict=True)):
            column = frame.df[name] if shape.schema else F.to_json(frame.df[name])
            call = _Call(self.spec, given, shape.schema, self.spec.schema or shape.schema)
            calls[n] = call.column(column if where is None else F.when(where, column))
        # In a projection of their own: each function is called once, though data and error are taken from what it says.
        frame = frame.with_columns({f"called_{n}": column for n, column in calls.items()})
        changes = {n: self._change(frame, shape, n) for n, shape in enumerate(union.shapes)}
        after = changed(frame, "value", changes, None, where)
        return after.with_df(after.df.drop(*(f"called_{n}" for n in calls)))

    def _change(self, frame: RecordFrame, before: Shape, n: int) -> Change:
        from pyspark.sql import functions as F

        called = frame.df[f"called_{n}"]
        shape = Shape(self.spec.schema or before.schema) if before.schema or self.spec.schema else SCHEMALESS
        data = called["data"] if shape.schema else F.try_parse_json(called["data"])
        text = called["error"]
        error = F.when(text == DROPPED, text).otherwise(data_exception(text))
        if not shape.schema:  # without an error it would become a tombstone
            unread = called["data"].isNotNull() & data.isNull()
            error = F.coalesce(error, F.when(unread, data_exception("what it returns cannot be read as JSON")))
        return Change(shape, data, error)


@dataclass(frozen=True)
class _Call:
    """Calls a function with the rows of a column; pickled."""

    spec: TransformSpec
    given: Mapping[str, Any]
    before: ConnectSchema | None
    after: ConnectSchema | None

    def column(self, column: Column) -> Column:
        """STRUCT of ``data``, JSON text if there is no schema, and ``error``."""
        from pyspark.sql import types as spark

        data = spark_type(self.after) if self.after else spark.StringType()
        result = spark.StructType([spark.StructField("data", data), spark.StructField("error", spark.StringType())])

        def run(values: pa.Array) -> pa.Array:
            return self.called(values)

        return arrow_function(run, result, "@transform needs")(column)

    def called(self, values: pa.Array) -> pa.Array:
        import pyarrow as pa

        from airflow_kconnect.converters import cells

        rows = self._rows(values)
        found = self._all([row for row in rows if row is not None], values)
        results = [None if row is None else next(found) for row in rows]
        pairs = enumerate(zip(rows, results, strict=True))
        dropped = {n for n, (row, result) in pairs if row is not None and result is None}
        type_ = arrow_type(self.after) if self.after else pa.string()
        data, errors = cells.column([self._written(result) for result in results], type_)
        texts = [DROPPED if n in dropped else errors.get(n) for n in range(len(rows))]
        return pa.StructArray.from_arrays([data, pa.array(texts, pa.string())], ["data", "error"])

    def _rows(self, values: pa.Array) -> list[Any]:
        rows: list[Any] = values.to_pylist()
        return rows if self.before else [None if row is None else json.loads(row) for row in rows]

    def _all(self, rows: list[Any], values: pa.Array) -> Iterator[Any]:
        """What the function returns for each; an error in place of what it cannot change.

        :param values: of which the rows were made: the function may have changed these.
        """
        if self.spec.of_batches and rows:
            try:
                return iter(self._batch(rows))
            except Exception:  # of one of them: each alone shows which
                return (self._one([row]) for row in self._rows(values) if row is not None)
        return (self._one(row) for row in rows)

    def _batch(self, rows: list[Any]) -> list[Any]:
        results = list(self.spec.function(rows, **self.given))
        if len(results) == len(rows):
            return results
        name = self.spec.function.__name__
        return [DataError(f"{name} was given {len(rows)} records and has returned {len(results)}")] * len(rows)

    def _one(self, given: Any) -> Any:
        try:
            return self._batch(given)[0] if self.spec.of_batches else self.spec.function(given, **self.given)
        except Exception as error:  # the user's code: its error is that of the record
            return DataError(named(error))

    def _written(self, result: Any) -> Any:
        if result is None or isinstance(result, DataError):
            return result
        try:
            value = plain(result)
            return json.dumps(value, allow_nan=False) if self.after is None else value
        except Exception as error:
            return DataError(f"what it returns cannot be written: {named(error)}")
