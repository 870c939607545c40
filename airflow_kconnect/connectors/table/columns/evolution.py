"""What has to change in a table so that it can take rows of other columns; pure rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import types as T

from airflow_kconnect.connectors.table.columns.types import holds, is_checked, promoted
from airflow_kconnect.connectors.types import same

Kind = Literal["add", "widen", "optional"]
FAIL, EVOLVE, IGNORE = "fail", "evolve", "ignore"
ELEMENT, KEY, VALUE = "element", "key", "value"


@dataclass(frozen=True)
class Change:
    """One change of a table's columns.

    :param kind: ``add`` a column or member, ``widen`` its type, make it ``optional``.
    :param path: names of the members down to it; ``element``, ``key`` and ``value`` are those of arrays and maps, as in
        Spark's `ALTER TABLE`.
    :param type: the new type (``add``, ``widen``).
    :param comment: of a column that is added.
    """

    kind: Kind
    path: tuple[str, ...]
    type: T.DataType | None = None
    comment: str | None = None


@dataclass(frozen=True)
class Evolution:
    """What happens to the differences between a table and its records.

    :param changes: to be made in the table, in this order.
    :param refused: what the table does not get: records that need it are bad. Each is one line.
    :param ignored: what is left out of records, or written only where it fits. Each is one line.
    """

    changes: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    """:param change: None: no change of the table helps.
    :param text: what differs, with the name of the field.
    :param fits: whether some values can be written without a change.
    """

    change: Change | None
    text: str
    fits: bool = False


def changes(
    known: T.StructType,
    wanted: T.StructType,
    policies: Mapping[str, str],
    *,
    fold: Callable[[str], str] = str,
    keys: Collection[str] = (),
) -> Evolution:
    """The changes with which a table can take records, as far as the policies allow them. Nothing is ever dropped,
    renamed or made narrower.

    :param known: the table's columns.
    :param wanted: those that hold all records.
    :param policies: ``fail``, ``evolve`` or ``ignore`` by kind of change; ``fail`` where none is given.
    :param fold: as for `merged`.
    :param keys: columns that stay required: they identify a row.
    """
    made: list[Change] = []
    refused: list[str] = []
    ignored: list[str] = []
    for difference in _of_members((), known, wanted, fold, set(keys)):
        change = difference.change
        policy = FAIL if change is None else policies.get(change.kind, FAIL)
        if change is not None and policy == EVOLVE:
            made.append(change)
        elif difference.fits and (change is None or policy == IGNORE):
            ignored.append(difference.text)
        else:
            refused.append(difference.text)
    return Evolution(tuple(made), tuple(refused), tuple(ignored))


def _of_members(
    path: tuple[str, ...], known: T.StructType, wanted: T.StructType, fold: Callable[[str], str], keys: Collection[str]
) -> Iterator[_Difference]:
    given = {fold(field.name): field for field in wanted.fields}
    for column in known.fields:
        inner, field = (*path, column.name), given.pop(fold(column.name), None)
        if not column.nullable and (field is None or field.nullable) and column.name not in keys:
            text = "the records do not have it" if field is None else "optional in the records"
            yield _Difference(Change("optional", inner), f"`{name_of(inner)}` is required in the table, and {text}")
        if field is not None:
            yield from _of_types(inner, column.dataType, field.dataType, fold)
    for field in given.values():
        inner = (*path, field.name)
        change = Change("add", inner, field.dataType, (field.metadata or {}).get("comment"))
        text = f"`{name_of(inner)}` is in the records ({field.dataType.simpleString()}) and not in the table"
        yield _Difference(change, text, fits=True)


def _of_types(
    path: tuple[str, ...], known: T.DataType, wanted: T.DataType, fold: Callable[[str], str]
) -> Iterator[_Difference]:
    match known, wanted:
        case T.StructType(), T.StructType():
            yield from _of_members(path, known, wanted, fold, ())
        case T.ArrayType(), T.ArrayType():
            yield from _of_items((*path, ELEMENT), known.containsNull, wanted.containsNull)
            yield from _of_types((*path, ELEMENT), known.elementType, wanted.elementType, fold)
        case T.MapType(), T.MapType() if same(known.keyType, wanted.keyType):
            yield from _of_items((*path, VALUE), known.valueContainsNull, wanted.valueContainsNull)
            yield from _of_types((*path, VALUE), known.valueType, wanted.valueType, fold)
        case _ if not holds(known, wanted):
            text = (
                f"`{name_of(path)}` is {wanted.simpleString()} in the records and {known.simpleString()} in the table"
            )
            change = None if (type_ := promoted(known, wanted)) is None else Change("widen", path, type_)
            yield _Difference(change, text, is_checked(wanted, known))


def _of_items(path: tuple[str, ...], known: bool, wanted: bool) -> Iterator[_Difference]:
    if wanted and not known:
        text = f"`{name_of(path)}` is required in the table, and optional in the records"
        yield _Difference(Change("optional", path), text)


def name_of(path: tuple[str, ...]) -> str:
    """The path for texts."""
    return ".".join(path)
