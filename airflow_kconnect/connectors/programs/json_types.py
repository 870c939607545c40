"""JSON Schema as Connect's schemas, and JSON values as such schemas have them, as taps and Airbyte's sources use it.

`converters/json_schema` has Confluent's mapping instead, in which `connect.type` and not `format` says what a value is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE_SCHEMA,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    decimal_schema,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.rows import key_schema, row_schema

Write = Callable[[Any], Any]
"""Makes of a value that is not null what Arrow expects for a schema; raises `Misfit`."""

_SCALE_MAX = 18
"""Of 38 digits that a decimal has in Arrow, so that as many are left before the point."""
_EXACT = Context(prec=1000, traps=[])
_DEPTH_MAX = 12
_INT64_END = 2**63


class Misfit(Exception):
    """A value that is not what its schema says. The text says where in the record, and why."""


@dataclass(frozen=True)
class Kind:
    """A type of values. :param write: see `Write`. :param nullable: whether null is one of them."""

    schema: ConnectSchema
    write: Write
    nullable: bool = True


@dataclass(frozen=True)
class Rows:
    """What is known of the rows of a stream.

    :param stream: its name. :param value: the schema of its rows; None: schemaless, as is the key.
    :param keys: the columns of their key.
    """

    stream: str
    value: ConnectSchema | None
    keys: tuple[str, ...]
    write: Write

    @cached_property
    def key(self) -> ConnectSchema | None:
        """The schema of their keys."""
        return key_schema(self.value, self.keys)

    def written(self, row: Mapping[str, Any]) -> dict[str, Any] | DataError:
        """The row as its schema has it; or why it cannot be: an error of its record."""
        try:
            found: dict[str, Any] = self.write(row)
        except Misfit as error:
            return DataError(f"stream {self.stream}: {error}")
        return found


def schemaless(stream: str, keys: Sequence[str]) -> Rows:
    """Rows that are written as they are."""
    return Rows(stream, None, tuple(keys), _plain)


def rows_of(stream: str, schema: Mapping[str, Any], keys: Sequence[str]) -> Rows:
    """The rows that a JSON schema describes. One that names no columns describes nothing: they are schemaless."""
    reader = _Reader(schema)
    properties = reader.resolved(schema).get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return schemaless(stream, keys)
    members = _members(reader, properties, {*keys, *_required(schema)}, 1)
    fields = tuple(Field(name, kind.schema) for name, kind in members.items())
    return Rows(stream, row_schema(stream, fields), tuple(keys), _struct_writer(members))


def _members(reader: _Reader, properties: Mapping[str, Any], needed: Collection[str], depth: int) -> dict[str, Kind]:
    """:param needed: those that are null only if their type says so. Others may be missing, which is the same."""
    found = {}
    for name, schema in properties.items():
        kind = reader.kind(schema, depth)
        optional = kind.nullable or name not in needed
        found[name] = Kind(kind.schema.as_optional() if optional else kind.schema, kind.write, optional)
    return found


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


class _Reader:
    """:param root: the schema in which references are looked up."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def kind(self, schema: Any, depth: int) -> Kind:
        """What a schema describes. What Connect has no type for is a text with JSON."""
        schema = self.resolved(schema)
        if depth > _DEPTH_MAX or not schema:
            return _ANYTHING
        alternatives = self._alternatives(schema, depth)
        if alternatives is not None:
            return alternatives
        types = _types(schema)
        nullable = "null" in types or (not types and None in schema.get("enum", ()))
        kind = self._of_types(types - {"null"}, schema, depth)
        return Kind(kind.schema, kind.write, nullable or kind is _ANYTHING)

    def resolved(self, schema: Any) -> Mapping[str, Any]:
        """The schema that a reference within the document leads to; nothing, if it leads nowhere."""
        for _ in range(_DEPTH_MAX):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema
            schema = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        place: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/") if reference.startswith("#") else ("",):
            name = part.replace("~1", "/").replace("~0", "~")
            place = place.get(name) if isinstance(place, Mapping) else None
        return place

    def _alternatives(self, schema: Mapping[str, Any], depth: int) -> Kind | None:
        """That of the only alternative besides null; a number, or a text, if all of them are; None: there are none."""
        for word in ("anyOf", "oneOf", "allOf"):
            given = schema.get(word)
            if not isinstance(given, list) or not given:
                continue
            outer = {name: value for name, value in schema.items() if name != word}
            resolved = [{**outer, **self.resolved(each)} for each in given]
            others = [each for each in resolved if _types(each) != {"null"}]
            nullable = len(others) < len(resolved) or any("null" in _types(each) for each in others)
            kinds = [self.kind(each, depth + 1) for each in others]
            kind = _common(kinds) if word != "allOf" or len(kinds) == 1 else _ANYTHING
            return Kind(kind.schema, kind.write, nullable or kind is _ANYTHING)
        return None

    def _of_types(self, types: set[str], schema: Mapping[str, Any], depth: int) -> Kind:
        if types == {"integer", "number"}:
            types = {"number"}
        if len(types) != 1:
            return _ANYTHING
        match next(iter(types)):
            case "boolean":
                return _BOOLEAN
            case "integer":
                return _INTEGER
            case "number" if schema.get("airbyte_type") == "integer":
                return _INTEGER
            case "number":
                scale = _scale(schema)
                return _FLOAT if scale is None else _decimal(scale)
            case "string":
                return _text_kind(schema)
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
        return _ANYTHING

    def _array(self, schema: Mapping[str, Any], depth: int) -> Kind:
        items = self.kind(schema.get("items"), depth + 1)
        if items.schema == _ANYTHING.schema and items.write is _json_text:
            return _ANYTHING
        item = items.schema.as_optional()
        return Kind(ConnectSchema(SchemaType.ARRAY, value_schema=item), _array_writer(items.write))

    def _object(self, schema: Mapping[str, Any], depth: int) -> Kind:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and properties:
            members = _members(self, properties, _required(schema), depth + 1)
            fields = tuple(Field(name, kind.schema) for name, kind in members.items())
            return Kind(ConnectSchema(SchemaType.STRUCT, fields=fields), _struct_writer(members))
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping) and values:
            kind = self.kind(values, depth + 1)
            mapped = ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=kind.schema.as_optional())
            return Kind(mapped, _map_writer(kind.write))
        return _ANYTHING


def _types(schema: Mapping[str, Any]) -> set[str]:
    """The types that a schema names, or that its constants have."""
    given = schema.get("type")
    if isinstance(given, str):
        return {given}
    if isinstance(given, list):
        return {each for each in given if isinstance(each, str)}
    constants = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(constants, list):
        return {_type_of(each) for each in constants}
    if "properties" in schema:
        return {"object"}
    return {"array"} if "items" in schema else set()


def _type_of(value: Any) -> str:
    names = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def _common(kinds: Sequence[Kind]) -> Kind:
    """A type that values of all of these types have."""
    schemas = {kind.schema for kind in kinds}
    if len(schemas) == 1 and len({kind.write for kind in kinds}) == 1:
        return kinds[0]
    if schemas <= {INT64_SCHEMA, FLOAT64_SCHEMA}:
        return _FLOAT
    return _ANYTHING


def _scale(schema: Mapping[str, Any]) -> int | None:
    """Digits after the point, if a schema says that its numbers are decimals; None: it does not, or too many."""
    try:
        step = Decimal(str(schema["multipleOf"]))
    except (KeyError, InvalidOperation):
        return None
    exponent = step.normalize().as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else None
    return scale if scale is not None and scale <= _SCALE_MAX and step > 0 else None


def _text_kind(schema: Mapping[str, Any]) -> Kind:
    match schema.get("format"):
        case "date-time":
            return _TIMESTAMP
        case "date":
            return _DATE
        case "time":
            return _TIME
        case "singer.decimal" | "x-singer.decimal":
            scale = _stated_scale(schema)
            return _TEXT if scale is None else _decimal(scale)
    return _TEXT


def _stated_scale(schema: Mapping[str, Any]) -> int | None:
    more = schema.get("additionalProperties")
    stated = more.get("scale_precision", {}) if isinstance(more, Mapping) else {}
    scale = schema.get("scale", stated.get("scale") if isinstance(stated, Mapping) else None)
    if isinstance(scale, int) and 0 <= scale <= _SCALE_MAX:
        return scale
    return _scale(schema)


def _plain(value: Any) -> Any:
    """As JSON has it: numbers may have been read as decimals because another stream has some."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):  # of decimals without a scale
        return str(value)
    raise Misfit(f"{_shown(value)} is not a text")


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Misfit(f"{_shown(value)} is not a boolean")


def _integer(value: Any) -> int:
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -_INT64_END <= value < _INT64_END:
        return value
    raise Misfit(f"{_shown(value)} is not an integer of 64 bits")


def _float(value: Any) -> float:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Misfit(f"{_shown(value)} is not a number that a double can hold") from None
    raise Misfit(f"{_shown(value)} is not a number")


def _decimal(scale: int) -> Kind:
    def write(value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise Misfit(f"{_shown(value)} is not a decimal")
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            raise Misfit(f"{_shown(value)} is not a decimal") from None
        exponent = number.normalize(_EXACT).as_tuple().exponent  # zeros at the end are no digits too many
        if not isinstance(exponent, int) or -exponent > scale:
            raise Misfit(f"{_shown(value)} has more than {scale} digits after the point")
        return number

    return Kind(decimal_schema(scale), write)


def _timestamp(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Misfit(f"{_shown(value)} is not a time of a date") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _date(value: Any) -> date:
    try:
        return datetime.fromisoformat(value).date()
    except (TypeError, ValueError):
        raise Misfit(f"{_shown(value)} is not a date") from None


def _time(value: Any) -> int:
    try:
        found = time.fromisoformat(value)
    except (TypeError, ValueError):
        raise Misfit(f"{_shown(value)} is not a time of a day") from None
    return ((found.hour * 60 + found.minute) * 60 + found.second) * 1000 + found.microsecond // 1000


def _json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=float)


def _array_writer(write: Write) -> Write:
    def written(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Misfit(f"{_shown(value)} is not a list")
        return [None if item is None else write(item) for item in value]

    return written


def _map_writer(write: Write) -> Write:
    def written(value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, Mapping):
            raise Misfit(f"{_shown(value)} is not an object")
        return [(name, None if item is None else write(item)) for name, item in value.items()]

    return written


def _struct_writer(members: Mapping[str, Kind]) -> Write:
    needed = [name for name, kind in members.items() if not kind.nullable]

    def written(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Misfit(f"{_shown(value)} is not an object")
        found = {}
        for name, item in value.items():
            member = members.get(name)
            if member is None and item is None:
                continue
            if member is None:
                raise Misfit(f"`{name}` is not in its schema")
            try:
                found[name] = None if item is None else member.write(item)
            except Misfit as error:
                raise Misfit(f"`{name}`: {error}") from None
        for name in needed:
            if found.get(name) is None:
                raise Misfit(f"`{name}` is missing or null, which its schema does not allow")
        return found

    return written


def _shown(value: Any) -> str:
    """A value in an error: its beginning."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:60]}..."


_ANYTHING = Kind(STRING_SCHEMA, _json_text)
_TEXT = Kind(STRING_SCHEMA, _text, nullable=False)
_BOOLEAN = Kind(BOOLEAN_SCHEMA, _boolean, nullable=False)
_INTEGER = Kind(INT64_SCHEMA, _integer, nullable=False)
_FLOAT = Kind(FLOAT64_SCHEMA, _float, nullable=False)
_TIMESTAMP = Kind(TIMESTAMP_SCHEMA, _timestamp, nullable=False)
_DATE = Kind(DATE_SCHEMA, _date, nullable=False)
_TIME = Kind(TIME_SCHEMA, _time, nullable=False)


def has_decimals(schema: ConnectSchema | None) -> bool:
    """Whether there are decimals in values of a schema."""
    if schema is None:
        return False
    inner = [*(field.schema for field in schema.fields), *filter(None, (schema.key_schema, schema.value_schema))]
    return schema.name == DECIMAL or any(map(has_decimals, inner))
