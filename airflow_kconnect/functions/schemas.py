"""Connect's schemas of Python's types, and records as the plain values that such schemas describe."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    decimal_schema,
)

_SCHEMAS: Mapping[Any, ConnectSchema] = {
    str: STRING_SCHEMA,
    int: INT64_SCHEMA,
    float: FLOAT64_SCHEMA,
    bool: BOOLEAN_SCHEMA,
    bytes: BYTES_SCHEMA,
    datetime.datetime: TIMESTAMP_SCHEMA,
    datetime.date: DATE_SCHEMA,
    uuid.UUID: STRING_SCHEMA,
}


class NoSchema(TypeError):
    """A type says too little: its data have no schema."""


def schema_of(hint: Any) -> ConnectSchema:
    """The schema of a type: a class of data (dataclass, TypedDict, NamedTuple, pydantic model), or one of its fields.

    Decimals say how many digits they have after the point: ``Annotated[Decimal, 2]``.

    :raises NoSchema: it is `Any`, a plain dict, or another type of which the data can be anything.
    """
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, extras = hint.__origin__, hint.__metadata__
    if hint in _SCHEMAS:
        return _SCHEMAS[hint]
    if hint is decimal.Decimal:
        return _decimal(extras)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union(arguments, extras)
    if origin in (Required, NotRequired):
        return schema_of(arguments[0])
    if origin is Literal:
        return schema_of(type(arguments[0]))
    if isinstance(origin, type):
        return _collection(origin, arguments)
    return _class(hint)


def _decimal(extras: Collection[Any]) -> ConnectSchema:
    scale = next((extra for extra in extras if isinstance(extra, int)), None)
    if scale is None:
        raise NoSchema("a Decimal does not say how many digits it has after the point: write Annotated[Decimal, 2]")
    return decimal_schema(scale)


def _union(members: tuple[Any, ...], extras: tuple[Any, ...]) -> ConnectSchema:
    others = [member for member in members if member is not NoneType]
    if len(others) != 1:
        raise NoSchema(f"{' | '.join(map(_shown, members))} is several types")
    return schema_of(Annotated[(others[0], *extras)] if extras else others[0]).as_optional()


def _collection(origin: type, arguments: tuple[Any, ...]) -> ConnectSchema:
    if issubclass(origin, Mapping):
        if not arguments or arguments[0] is not str:
            raise NoSchema("a dict without types of its keys and values can hold anything: write dict[str, int]")
        return ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=schema_of(arguments[1]))
    if issubclass(origin, Iterable) and arguments:
        return ConnectSchema(SchemaType.ARRAY, value_schema=schema_of(arguments[0]))
    raise NoSchema(f"{_shown(origin)} can hold anything")


def _class(hint: Any) -> ConnectSchema:
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return schema_of(type(next(iter(hint)).value))
    if not isinstance(hint, type) or not (is_data_class(hint)):
        raise NoSchema(f"{_shown(hint)} can hold anything")
    required = getattr(hint, "__required_keys__", None)
    fields = []
    for name, each in get_type_hints(hint, include_extras=True).items():
        schema = schema_of(each)
        may_be_missing = get_origin(each) is NotRequired or (required is not None and name not in required)
        fields.append(Field(name, schema.as_optional() if may_be_missing else schema))
    return ConnectSchema(SchemaType.STRUCT, name=hint.__name__, fields=tuple(fields))


def is_data_class(hint: type) -> bool:
    """Whether a class says which fields its data have."""
    is_named_tuple = issubclass(hint, tuple) and hasattr(hint, "_fields")
    return dataclasses.is_dataclass(hint) or is_typeddict(hint) or is_named_tuple or hasattr(hint, "model_fields")


def _shown(hint: Any) -> str:
    return getattr(hint, "__name__", str(hint))


def plain(value: Any) -> Any:
    """A record, or a part of one, as dicts, lists and what Arrow knows: objects of data classes become dicts."""
    convert = _CONVERTED.get(type(value))
    if convert is not None:
        return convert(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return _plain_dict(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):  # in an order that the next process has, too
        return sorted(map(plain, value), key=repr)
    base = next((base for base in _BASES if isinstance(value, base)), None)
    return value if base is None else _BASES[base](value)


def _time(value: datetime.datetime) -> datetime.datetime:
    whole = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return datetime.datetime(*whole, tzinfo=value.tzinfo, fold=value.fold)


_BASES: Mapping[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes,
    datetime.datetime: _time,
    datetime.date: lambda value: datetime.date(value.year, value.month, value.day),
}
"""What makes values of these types of values of their subclasses, such as the times of pandas and pendulum."""


def _itself(value: Any) -> Any:
    return value


def _plain_dict(value: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: plain(item) for name, item in value.items()}


_CONVERTED: Mapping[type, Callable[[Any], Any]] = {
    **dict.fromkeys(
        (str, int, float, bool, bytes, NoneType, datetime.datetime, datetime.date, decimal.Decimal), _itself
    ),
    dict: _plain_dict,
}
