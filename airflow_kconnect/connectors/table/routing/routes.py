"""Which table each row of a frame goes to, as a column."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.error_cells import DROPPED, stage_prefix
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.routing.routing import by_record, name_format
from airflow_kconnect.connectors.table.settings import ROUTE, TOPIC, Routing, TableSettings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ROUTES = "kconnect_routes"
"""ARRAY<STRING>: the tables of a row, without prefix."""
READ_FROM = "read_from"

ERROR = stage_prefix("TASK_PUT", "airflow_kconnect.connectors.SparkTableSinkConnector")
_PIECES = re.compile(r"(\$\{(?:topic|route)\})")
# As `parts_of` has it: parts with something in them, in backticks or not.
_NAME = r"(`([^`]|``)+`|[^.`\s][^.]*)(\.(`([^`]|``)+`|[^.`\s][^.]*))*"


def topic_of(frame: RecordFrame) -> Column:
    """The topic of a row, as transformations have left it."""
    if frame.topic:
        return F.col(frame.topic)
    return F.col(READ_FROM) if READ_FROM in frame.carried else F.lit(frame.constant_topic)


def constant(df: DataFrame, column: Column) -> str | None:
    """The text that a column has in all rows, if Spark can tell without looking at any."""
    plan = df.select(column.alias("text"))._jdf.queryExecution().optimizedPlan()
    if plan.nodeName() != "Project":
        return None
    alias = plan.projectList().head()
    if not alias.foldable() and not (alias.nodeName() == "Alias" and alias.child().foldable()):
        return None
    value = (alias.child() if alias.nodeName() == "Alias" else alias).eval(None)
    return None if value is None else str(value.toString())


def is_same(df: DataFrame, one: Column, other: Column) -> bool:
    """Whether two columns are the same in all rows, as far as Spark can tell without looking at any."""
    plans = [df.select(column.alias("text"))._jdf.queryExecution().optimizedPlan() for column in (one, other)]
    return bool(plans[0].sameResult(plans[1]))


def routed(frame: RecordFrame, settings: TableSettings) -> RecordFrame:
    """The frame with the column `ROUTES`; records that go nowhere are bad."""
    routing = settings.routing
    routes = _by_patterns(frame, routing) if routing.patterns else _by_name(frame, routing)
    errors = [F.col("error"), F.when(F.size(routes) == 0, F.lit(ERROR + _nowhere(routing)))]
    if not settings.deletes:
        errors.insert(1, F.when(_is_absent(frame), F.lit(DROPPED)))
    frame = frame.with_columns({ROUTES: routes, "error": F.coalesce(*errors)})
    return replace(frame, carried=(*frame.carried, ROUTES))


def _nowhere(routing: Routing) -> str:
    if routing.patterns:
        return f"field `{routing.value_field}` names no table: it matches none of the patterns"
    what = f"header `{routing.header}`" if routing.header else f"field `{routing.value_field}`"
    return f"{what} is missing, or what it says is not the name of a table"


def _by_name(frame: RecordFrame, routing: Routing) -> Column:
    texts = {TOPIC: topic_of(frame), ROUTE: _route(frame, routing)}
    pieces = [piece for piece in _PIECES.split(name_format(routing)) if piece]
    name = F.concat(*(texts.get(piece, F.lit(piece)) for piece in pieces))
    is_name = name.isNotNull() & name.rlike(f"^{_NAME}$")
    return F.when(is_name, F.array(name)).otherwise(F.array().cast("array<string>"))


def _by_patterns(frame: RecordFrame, routing: Routing) -> Column:
    text = _route(frame, routing) if by_record(routing) else F.lit("")
    tables = [F.when(text.rlike(f"^(?:{p})$"), F.lit(table)) for table, p in routing.patterns.items()]
    return F.array_compact(F.array(*tables))


def _route(frame: RecordFrame, routing: Routing) -> Column:
    if routing.header:
        text = _in_header(frame, routing.header)
    elif routing.value_field:
        text = _in_value(frame, routing.value_field)
    else:
        return F.lit(None).cast("string")
    return F.lower(text) if routing.lower_case else text


def _in_header(frame: RecordFrame, name: str) -> Column:
    """The last header of this name, which is the one that Connect's `lastWithName` finds."""
    if not frame.headers:
        return F.lit(None).cast("string")
    found = F.filter(F.col(frame.headers), lambda header: header["key"] == name)
    return F.get(found, F.size(found) - 1)["value"].cast("string")


def _in_value(frame: RecordFrame, path: str) -> Column:
    found = []
    for column, shape in zip(frame.value.columns, frame.value.shapes, strict=True):
        if shape.schemaless:
            found.append(F.try_variant_get(F.col(column), _variant_path(path), "string"))
        elif (cell := _member(F.col(column), frame.df.schema[column].dataType, path.split("."))) is not None:
            found.append(cell.cast("string"))
    return F.coalesce(*found) if found else F.lit(None).cast("string")


def _variant_path(path: str) -> str:
    return "$" + "".join(f'["{name}"]' for name in path.split("."))


def _member(column: Column, type_: T.DataType, path: list[str]) -> Column | None:
    if not path:
        return column if isinstance(type_, T.AtomicType) else None
    if not isinstance(type_, T.StructType) or path[0] not in type_.names:
        return None
    return _member(column.getField(path[0]), type_[path[0]].dataType, path[1:])


def _is_absent(frame: RecordFrame) -> Column:
    return reduce(lambda one, other: one & other, (F.col(name).isNull() for name in frame.value.columns), F.lit(True))
