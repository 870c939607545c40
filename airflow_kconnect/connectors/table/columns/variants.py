"""Schemaless values in the columns of a table: each is what Spark's VARIANT says it is, and fits or does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.casts import exact_decimal, from_text, moment_of_millis
from airflow_kconnect.connectors.table.columns.evolution import FAIL
from airflow_kconnect.connectors.table.columns.fitting import Fit, Rules, among, first_problem, misfit, null_problem
from airflow_kconnect.connectors.table.identifiers import quoted

_STEP = re.compile("[A-Za-z0-9_]+")
_DOUBLE_EXACT = 2**52
"""Doubles up to here have a digit after the point."""
_WHOLE_TEXT = r"^-?\d+(\.0*)?$"
_TEXT_MAX = 100
_INFINITY = float("inf")
_LOOKED = {
    T.StringType: "string",
    T.BooleanType: "string",
    T.ByteType: "string",
    T.ShortType: "string",
    T.IntegerType: "string",
    T.LongType: "string",
    T.DoubleType: "double",
}
"""In which type `look` finds what is for a column."""


@dataclass(frozen=True)
class Place:
    """A place in a VARIANT.

    :param folded: names of members are matched in any case.
    :param looks: what was found of members at once, see `look`: by name.
    :param seen: what `looks` has for this place.
    """

    root: Column
    path: str = "$"
    folded: bool = False
    looks: Mapping[str, Column] = field(default_factory=dict)
    seen: Column | None = None

    def get(self, type_: T.DataType | str) -> Column:
        """What is there, in a type; null if there is nothing, or something else."""
        return F.try_variant_get(self.root, self.path, type_ if isinstance(type_, str) else type_.simpleString())

    def member(self, name: str) -> Place:
        """A member of the object that is there."""
        if self.folded:
            members = F.transform_keys(self.members, lambda key, _: F.lower(key))
            return Place(F.try_element_at(members, F.lit(name.lower())), folded=True)
        if _STEP.fullmatch(name):
            return Place(self.root, f"{self.path}.{name}", seen=self.looks.get(name))
        if '"' in name or "?" in name or name != name.strip():
            return Place(F.try_element_at(self.members, F.lit(name)))  # no path leads there
        return Place(self.root, f'{self.path}["{name}"]', seen=self.looks.get(name))

    @property
    def members(self) -> Column:
        """MAP<STRING, VARIANT> of an object."""
        return self.get("map<string,variant>")

    @property
    def is_given(self) -> Column:
        """Whether there is anything but null."""
        there = self.get("variant")
        return there.isNotNull() & ~F.is_variant_null(there)

    @property
    def kind(self) -> Column:
        """``BIGINT``, ``OBJECT`` ...: takes long, for rare values only."""
        kind = F.schema_of_variant(self.get("variant"))
        return F.substring_index(F.substring_index(kind, "<", 1), "(", 1)


def look(root: Column, wanted: Sequence[T.StructField]) -> tuple[Column | None, list[str]]:
    """Members of an object as a struct, and their names: one pass over it, where each path would search for its own.

    Integers and booleans are texts there: these say exactly what there was, and whether there was anything.
    """
    types = {each.name: found for each in wanted if (found := _LOOKED.get(type(each.dataType))) is not None}
    members = ", ".join(f"{quoted(name)}: {type_}" for name, type_ in types.items())
    return F.try_variant_get(root, "$", f"struct<{members}>") if types else None, list(types)


def fit_variant(name: str, place: Place, wanted: T.DataType, rules: Rules) -> Fit:
    """What is at a place, in a column of a type.

    :param name: of the field, for texts.
    """
    match wanted:
        case T.StringType() if place.seen is not None:
            return Fit(place.seen)
        case T.VariantType() | T.StringType():
            return Fit(place.get(wanted))
        case T.StructType():
            return _object(name, place, wanted, rules)
        case T.ArrayType():
            return _array(name, place, wanted, rules)
        case T.MapType() if isinstance(wanted.keyType, T.StringType):
            return _map(name, place, wanted, rules)
    cell, given = _single(place, wanted), place.is_given
    if place.seen is not None:
        cell = _of_seen(place.seen, place, wanted, cell)
        given = place.seen.isNotNull() if _LOOKED[type(wanted)] == "string" else given
    return Fit(cell, F.when(cell.isNull() & given, _misfit(name, place, wanted)))


def _of_seen(seen: Column, place: Place, wanted: T.DataType, single: Column) -> Column:
    """The same as `single`, which is evaluated for rare values only."""
    match wanted:
        case T.BooleanType():
            text = F.lower(seen)
            return F.when(text == F.lit("true"), F.lit(True)).when(text == F.lit("false"), F.lit(False))
        case T.DoubleType():
            return F.when(~seen.isin(0, 1) | ~place.get("string").isin("true", "false"), seen)
    number = seen.try_cast(wanted)
    usual = F.when(number.between(-_DOUBLE_EXACT, _DOUBLE_EXACT), number)
    return F.when(seen.isNotNull(), F.coalesce(usual, single))


def members_fit(
    name: str, place: Place, wanted: Sequence[T.StructField], rules: Rules
) -> tuple[list[Fit], Column | None]:
    """The members of an object in columns, and what is wrong with the object: it has others, or is none.

    :param name: of the object; empty: its members are the table's columns.
    """
    fits = []
    for member in wanted:
        inner = f"{name}.{member.name}" if name else member.name
        fits.append(fit_variant(inner, place.member(member.name), member.dataType, rules))
    problems = []
    if rules.add == FAIL:
        problems.append(_unknown(name, place, wanted, rules))
    if place.folded:
        problems.append(_twice(name, place))
    return fits, first_problem(problems)


def _single(place: Place, wanted: T.DataType) -> Column:
    """What is neither an object nor an array; null if it does not fit."""
    found = place.get(wanted)
    match wanted:
        case T.BooleanType():
            return F.when(F.lower(place.get("string")).isin("true", "false"), found)
        case T.FloatType() | T.DoubleType():
            fits = (F.abs(found) != F.lit(_INFINITY)) | (F.abs(place.get("double")) == F.lit(_INFINITY))
            return F.when(_is_number(found, place) & (fits if isinstance(wanted, T.FloatType) else F.lit(True)), found)
        case T.DecimalType():
            by_digits = F.when(exact_decimal(place.get("string"), wanted), found)
            same = (place.kind == "DOUBLE") & (found.cast("double") == place.get("double"))
            return F.coalesce(by_digits, F.when(same, found))
        case T.DateType():
            days = F.when(place.kind == "BIGINT", F.date_from_unix_date(place.get("int")))
            return F.coalesce(from_text(place.get("string"), wanted), days)
        case T.TimestampType() | T.TimestampNTZType():
            millis = F.when(place.kind == "BIGINT", place.get("bigint"))
            return F.coalesce(from_text(place.get("string"), wanted), moment_of_millis(millis, wanted))
        case T.BinaryType():
            text = F.when(place.kind == "STRING", F.try_to_binary(place.get("string"), F.lit("base64")))
            return F.coalesce(text, F.when(place.kind == "BINARY", found))
        case T.IntegralType():
            same = found.cast("double") == place.get("double")
            large = place.get("string").rlike(_WHOLE_TEXT) | ((place.kind == "DOUBLE") & same)
            exact = F.when(found.between(-_DOUBLE_EXACT, _DOUBLE_EXACT), same).otherwise(large)
            return F.when(_is_number(found, place) & exact, found)
    return F.lit(None).cast(wanted)


def _is_number(found: Column, place: Place) -> Column:
    """Whether it is not a boolean, which Spark makes 0 or 1."""
    return ~found.isin(0, 1) | (place.kind != "BOOLEAN")


def _object(name: str, place: Place, wanted: T.StructType, rules: Rules) -> Fit:
    fits, wrong = members_fit(name, place, wanted.fields, rules)
    cells = [made.cell.alias(member.name) for made, member in zip(fits, wanted.fields, strict=True)]
    problems = [made.problem for made in fits if made.problem is not None]
    problems += [
        null_problem(f"{name}.{member.name}", made.cell)
        for made, member in zip(fits, wanted.fields, strict=True)
        if not member.nullable
    ]
    nothing = reduce(lambda one, other: one & other, (made.cell.isNull() for made in fits), F.lit(True))
    no_object = F.when(nothing & (place.kind != "OBJECT"), _misfit(name, place, wanted))
    found = F.coalesce(no_object, *([wrong] if wrong is not None else []), *problems)
    given = place.is_given
    return Fit(F.when(given, F.struct(*cells)), F.when(given, found))


def _array(name: str, place: Place, wanted: T.ArrayType, rules: Rules) -> Fit:
    return _items(name, place, place.get("array<variant>"), wanted, (wanted.elementType, wanted.containsNull), rules)


def _map(name: str, place: Place, wanted: T.MapType, rules: Rules) -> Fit:
    return _items(name, place, place.members, wanted, (wanted.valueType, wanted.valueContainsNull), rules)


def _items(
    name: str, place: Place, found: Column, wanted: T.DataType, item: tuple[T.DataType, bool], rules: Rules
) -> Fit:
    type_, nullable = item

    def made(variant: Column) -> Fit:
        return fit_variant(f"{name}[]", Place(variant, folded=place.folded), type_, rules)

    def problem(variant: Column) -> Column:
        fit = made(variant)
        problems = [*([fit.problem] if fit.problem is not None else [])]
        problems += [] if nullable else [null_problem(f"{name}[]", fit.cell)]
        return first_problem(problems) if problems else F.lit(None).cast("string")  # type: ignore[return-value]

    is_array = isinstance(wanted, T.ArrayType)
    cell = (
        F.transform(found, lambda v: made(v).cell) if is_array else F.transform_values(found, lambda _, v: made(v).cell)
    )
    problems = among(F.transform(found if is_array else F.map_values(found), problem))
    other = F.when(found.isNull() & place.is_given, _misfit(name, place, wanted))
    return Fit(cell, F.coalesce(other, problems))


def _misfit(name: str, place: Place, wanted: T.DataType) -> Column:
    value = F.substring(F.to_json(place.get("variant")), 1, _TEXT_MAX)
    return F.concat(F.lit(misfit(name, wanted)), F.lit(": "), value)


def _unknown(name: str, place: Place, wanted: Sequence[T.StructField], rules: Rules) -> Column:
    """The problem of an object with a member that no column has."""
    # As arrays, most values are null at once.
    all_keys = F.map_keys(place.get("map<string,array<boolean>>"))
    given = F.map_keys(F.map_filter(place.members, lambda _, value: ~F.is_variant_null(value)))
    known = [rules.fold(member.name) for member in wanted]
    names = F.array(*map(F.lit, known)) if known else F.array().cast("array<string>")
    others = F.filter(given, lambda key: ~F.array_contains(names, F.lower(key) if place.folded else key))
    prefix = f"field `{name}." if name else "field `"
    first = F.get(others, F.lit(0))
    problem = F.concat(F.lit(prefix), first, F.lit(f"` {rules.why}"))
    return problem if place.folded else F.when(F.size(F.array_except(all_keys, names)) > 0, problem)


def _twice(name: str, place: Place) -> Column:
    """The problem of an object with members whose names differ only in case."""
    keys = F.map_keys(place.members)
    lowered = F.transform(keys, F.lower)
    twice = F.filter(keys, lambda key: F.size(F.filter(lowered, lambda other: other == F.lower(key))) > 1)
    prefix = f"fields of `{name}` " if name else "fields "
    text = F.concat(F.lit(prefix), F.array_join(twice, ", "), F.lit(" are one column"))
    return F.when(F.size(F.array_distinct(lowered)) < F.size(keys), text)
