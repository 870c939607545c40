"""Values in the columns of a table: as they are, in a wider type, or checked one by one; nothing is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.json_keys import with_text_keys
from airflow_kconnect.connectors.table.columns.casts import checked, widened
from airflow_kconnect.connectors.table.columns.evolution import FAIL, IGNORE
from airflow_kconnect.connectors.table.columns.types import holds, is_checked
from airflow_kconnect.connectors.types import same
from airflow_kconnect.converters.types import spark_type


@dataclass(frozen=True)
class Rules:
    """How records get into columns.

    :param add: the policy for fields without a column, as for `evolution.changes`.
    :param fold: as for `merged`.
    """

    add: str = FAIL
    fold: Callable[[str], str] = str

    @property
    def why(self) -> str:
        """For texts about fields without a column."""
        return f"is not in the table, and changes of this kind (`add`) are set to {self.add}"


@dataclass(frozen=True)
class Fit:
    """A value in a column's type.

    :param cell: null, or anything, where it does not fit.
    :param problem: STRING, why it does not; null where it does. None: every value fits.
    :param changed: whether the cell is more than the value itself.
    """

    cell: Column
    problem: Column | None = None
    changed: bool = True


def fit(name: str, column: Column, schema: ConnectSchema, wanted: T.DataType, rules: Rules) -> Fit:
    """Values of a schema in a column of a type.

    :param name: of the field, for texts. :param column: may be null, and so is the cell then.
    """
    given = spark_type(schema)
    match given, wanted:
        case T.StructType(), T.StructType():
            return _struct(name, column, schema, wanted, rules)
        case T.ArrayType(), T.ArrayType() if schema.value_schema is not None:
            return _array(name, column, schema.value_schema, wanted, rules)
        case T.MapType(), T.MapType() if schema.value_schema is not None and same(given.keyType, wanted.keyType):
            return _map(name, column, schema.value_schema, wanted, rules)
    if same(given, wanted):
        return Fit(column, changed=False)
    if isinstance(wanted, T.StringType) and isinstance(given, T.StructType | T.ArrayType | T.MapType):
        return Fit(F.to_json(with_text_keys(schema, column), {"ignoreNullFields": "false"}))
    if holds(wanted, given):
        return Fit(widened(column, given, wanted))
    cell = checked(column, schema, wanted) if is_checked(given, wanted) else None
    if cell is None:
        text = F.lit(f"field `{name}` is {given.simpleString()}, and {wanted.simpleString()} in the table")
        return Fit(F.lit(None).cast(wanted), F.when(column.isNotNull(), text))
    text = F.concat(F.lit(misfit(name, wanted)), F.lit(": "), column.cast("string"))
    return Fit(cell, F.when(column.isNotNull() & cell.isNull(), text))


def misfit(name: str, wanted: T.DataType) -> str:
    """The text about a value, which follows."""
    return f"field `{name}` does not fit into {wanted.simpleString()}, its type in the table"


def null_problem(name: str, column: Column) -> Column:
    """The problem of a column or member that must not be null."""
    return F.when(column.isNull(), F.lit(f"field `{name}` is null or missing, and is required in the table"))


def first_problem(problems: Sequence[Column]) -> Column | None:
    """The first one that is not null; None: there can be none."""
    if not problems:
        return None
    return problems[0] if len(problems) == 1 else F.coalesce(*problems)


def matched(schema: ConnectSchema, rules: Rules) -> tuple[dict[str, ConnectSchema], list[tuple[str, str]]]:
    """The fields of a struct by their folded names, and pairs of names that are the same one then."""
    fields: dict[str, ConnectSchema] = {}
    names: dict[str, str] = {}
    twice = []
    for each in schema.fields:
        key = rules.fold(each.name)
        if key in names:
            twice.append((names[key], each.name))
        fields[key], names[key] = each.schema, each.name
    return fields, twice


def _struct(name: str, column: Column, schema: ConnectSchema, wanted: T.StructType, rules: Rules) -> Fit:
    if same(spark_type(schema), wanted) and _takes_nulls(wanted):
        return Fit(column, changed=False)
    cells, problems = [], [F.lit(text) for text in struct_problems(name, schema, wanted, rules)]
    names = {rules.fold(each.name): each.name for each in schema.fields}
    fields, _ = matched(schema, rules)
    for member in wanted.fields:
        inner, key = f"{name}.{member.name}", rules.fold(member.name)
        made = Fit(F.lit(None).cast(member.dataType))
        if key in fields:
            made = fit(inner, column.getField(names[key]), fields[key], member.dataType, rules)
        cells.append(made.cell.alias(member.name))
        problems += [made.problem] if made.problem is not None else []
        problems += [] if member.nullable else [null_problem(inner, made.cell)]
    found = first_problem(problems)
    cell = F.when(column.isNotNull(), F.struct(*cells))
    return Fit(cell, None if found is None else F.when(column.isNotNull(), found))


def struct_problems(name: str, schema: ConnectSchema, wanted: T.StructType, rules: Rules) -> Iterator[str]:
    """What is wrong with all values of a struct's schema.

    :param name: of the struct; empty: its fields are the table's columns.
    """
    _, twice = matched(schema, rules)
    for one, other in twice:
        yield f"fields `{_joined(name, one)}` and `{_joined(name, other)}` are one column"
    if rules.add != IGNORE:
        members = {rules.fold(member.name) for member in wanted.fields}
        for each in schema.fields:
            if rules.fold(each.name) not in members:
                yield f"field `{_joined(name, each.name)}` {rules.why}"


def _array(name: str, column: Column, items: ConnectSchema, wanted: T.ArrayType, rules: Rules) -> Fit:
    def made(item: Column) -> Fit:
        return _item(fit(f"{name}[]", item, items, wanted.elementType, rules), f"{name}[]", wanted.containsNull)

    probe = made(F.lit(None).cast(spark_type(items)))
    cell = F.transform(column, lambda item: made(item).cell) if probe.changed else column
    if probe.problem is None:
        return Fit(cell, changed=probe.changed)
    return Fit(cell, among(F.transform(column, lambda item: _problem(made(item)))), probe.changed)


def _map(name: str, column: Column, values: ConnectSchema, wanted: T.MapType, rules: Rules) -> Fit:
    def made(value: Column) -> Fit:
        return _item(fit(f"{name}[]", value, values, wanted.valueType, rules), f"{name}[]", wanted.valueContainsNull)

    probe = made(F.lit(None).cast(spark_type(values)))
    cell = F.transform_values(column, lambda _, value: made(value).cell) if probe.changed else column
    if probe.problem is None:
        return Fit(cell, changed=probe.changed)
    problems = F.transform(F.map_values(column), lambda value: _problem(made(value)))
    return Fit(cell, among(problems), probe.changed)


def _item(made: Fit, name: str, nullable: bool) -> Fit:
    if nullable:
        return made
    problems = [made.problem] if made.problem is not None else []
    return Fit(made.cell, first_problem([*problems, null_problem(name, made.cell)]), made.changed)


def _problem(made: Fit) -> Column:
    assert made.problem is not None
    return made.problem


def among(problems: Column) -> Column:
    """The first problem of an ARRAY of them."""
    return F.get(F.filter(problems, lambda problem: problem.isNotNull()), F.lit(0))


def _takes_nulls(type_: T.DataType) -> bool:
    """Whether nothing in it is required."""
    match type_:
        case T.StructType():
            return all(member.nullable and _takes_nulls(member.dataType) for member in type_.fields)
        case T.ArrayType():
            return type_.containsNull and _takes_nulls(type_.elementType)
        case T.MapType():
            return type_.valueContainsNull and _takes_nulls(type_.valueType)
    return True


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
