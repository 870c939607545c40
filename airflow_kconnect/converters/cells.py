"""Python values of source tasks as Arrow columns; values that a column cannot hold are errors of their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.errors import DataError, in_one_line

_SCALES = 38
"""By how many digits Arrow can move the point of a decimal. It does not check, and reads beyond its table: a wrong
value, or the end of the process.
"""
# Arrow's own errors are some of these; values of other classes lack what it looks for.
_UNFIT = (DataError, ValueError, TypeError, ArithmeticError, AttributeError, RecursionError)

Check = Callable[[Any], None]


def column(values: Sequence[Any], type_: pa.DataType) -> tuple[pa.Array, dict[int, str]]:
    """The column, and by row why a value is missing in it: it does not fit, or is such an error itself."""
    check = _check(type_)
    try:
        return _array(values, type_, check), {}
    except _UNFIT:
        pass
    cells, errors = [], {}
    for row, value in enumerate(values):
        try:
            if isinstance(value, DataError):
                raise value
            cells.append(_array([value], type_, check))
        except _UNFIT as error:
            cells.append(pa.nulls(1, type_))
            errors[row] = str(error) if isinstance(error, DataError) else in_one_line(error)
    return pa.concat_arrays(cells), errors


def _array(values: Sequence[Any], type_: pa.DataType, check: Check | None) -> pa.Array:
    """:raises DataError: and what Arrow raises."""
    if check is not None:
        for value in values:
            check(value)
    return pa.array(values, type_)


def _check(type_: pa.DataType, where: str = "") -> Check | None:
    """Looks for what Arrow does not report: unknown fields of structs, and some decimals. None: there is none of that.

    :param where: the names of the fields around it, each with a dot.
    """
    if pa.types.is_decimal(type_):
        return _decimal(type_.scale)
    if pa.types.is_struct(type_):
        return _struct(type_, where)
    if pa.types.is_list(type_):
        return _items(_check(type_.value_type, where))
    if pa.types.is_map(type_):
        return _pairs(_check(type_.key_type, where), _check(type_.item_type, where))
    return None


def _decimal(scale: int) -> Check:
    def check(value: Any) -> None:
        if not isinstance(value, Decimal):
            return
        exponent = value.as_tuple().exponent
        if isinstance(exponent, int) and -exponent - scale > _SCALES:
            raise DataError(f"Decimal has {-exponent} digits after the point, but its schema has scale {scale}")

    return check


def _struct(type_: pa.StructType, where: str) -> Check:
    names = [field.name for field in type_]
    members = {field.name: look for field in type_ if (look := _check(field.type, f"{where}{field.name}."))}
    known = frozenset(names)

    def check(value: Any) -> None:
        if type(value) is not dict:
            if isinstance(value, tuple):  # as Arrow has it: values in the order of the fields
                value = dict(zip(names, value, strict=False))
            elif isinstance(value, list):  # pairs
                value = dict(value)
            elif not isinstance(value, Mapping):
                return
        if not known.issuperset(value):
            unknown = next(name for name in value if name not in known)
            text = f"it has a field `{where}{unknown}`, which its schema does not have"
            raise DataError(f"{text}: declare it, or leave it out")
        for name, look in members.items():
            if name in value:
                look(value[name])

    return check


def _items(inner: Check | None) -> Check | None:
    def check(value: Any) -> None:
        for item in () if value is None else value:
            check_item(item)

    if inner is None:
        return None
    check_item = inner
    return check


def _pairs(keys: Check | None, values: Check | None) -> Check | None:
    def check(value: Any) -> None:
        for key, item in value.items() if isinstance(value, Mapping) else () if value is None else value:
            if keys is not None:
                keys(key)
            if values is not None:
                values(item)

    return None if keys is None and values is None else check
