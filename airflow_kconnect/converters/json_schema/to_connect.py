"""The Connect schema of a JSON Schema, as JsonSchemaData's ``toConnectSchema`` makes it."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.defaults import of_arrow
from airflow_kconnect.converters.json_schema.documents import Documents, Subschema
from airflow_kconnect.converters.json_schema.parsing import Kind, Part, parse, properties, required
from airflow_kconnect.converters.json_schema.read import reader
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.converters.registered.schema_walk import SchemaWalk, shown
from airflow_kconnect.converters.types import has_map, logical_name

_NUMBERS = {
    "int8": SchemaType.INT8,
    "int16": SchemaType.INT16,
    "int32": SchemaType.INT32,
    "int64": SchemaType.INT64,
    "float32": SchemaType.FLOAT32,
    "float64": SchemaType.FLOAT64,
    names.BYTES: SchemaType.BYTES,
}
_TYPED = (Kind.BOOLEAN, Kind.INTEGER, Kind.NUMBER, Kind.STRING, Kind.ARRAY, Kind.OBJECT)


class ToConnect(SchemaWalk):
    """Converts one schema. The attributes are names; those of Amazon's converter differ."""

    language = "JSON"
    title, description = "title", "description"
    enum, union, member, first = names.ENUM, names.ONE_OF, f"{names.ONE_OF}.field.", 0
    """``first``: the number of a union's first member."""

    def __init__(self, documents: Documents, settings: JsonSchemaSettings) -> None:
        super().__init__()
        self._documents, self._settings = documents, settings
        self._open = [documents.root.node]
        self._unions = 0

    def root(self, version: int | None = None) -> ConnectSchema:
        """The Connect schema of data written with the JSON Schema.

        :param version: the registry's, for a schema without ``connect.version``.
        :raises DataError: Connect, or a Spark column, cannot hold such data.
        """
        try:
            return self.schema(parse(self._documents.root), version)
        except RecursionError as error:
            raise DataError("The JSON schema: it nests too deeply") from error

    def schema(self, part: Part, version: int | None = None, *, optional: bool = False) -> ConnectSchema:
        """The schema of a part; what only stands for another one, such as a reference, is replaced by that."""
        self._count_one()
        if part.kind is Kind.REFERENCE:
            return self._referred(part, version, optional)
        if part.kind is Kind.ALL_OF:
            return self._all_of(part, version, optional)
        if part.kind in (Kind.ONE_OF, Kind.ANY_OF):
            others = [member for member in part.members if member.kind is not Kind.NULL]
            nullable = len(part.members) == 2 and len(others) == 1
            if nullable or (len(part.members) == 1 and self._settings.flatten_singleton_unions):
                return self.schema((others or part.members)[0], version, optional=optional or nullable)
        return self._annotated(self._plain(part), part, version, optional)

    def _referred(self, part: Part, version: int | None, optional: bool) -> ConnectSchema:
        reference = part.subschema.node["$ref"]
        subschema = self._documents.referred(part.subschema, reference)
        if any(subschema.node is node for node in self._open):
            raise self._endless(reference)
        self._open.append(subschema.node)
        schema = self.schema(parse(subschema), version, optional=optional)
        self._open.pop()
        return schema

    # Kinds with a schema of their own

    def _plain(self, part: Part) -> ConnectSchema:
        match part.kind:
            case Kind.BOOLEAN:
                return ConnectSchema(SchemaType.BOOLEAN)
            case Kind.INTEGER | Kind.NUMBER:
                return ConnectSchema(self._number(part))
            case Kind.STRING:
                is_bytes = part.notes.get(names.TYPE) == names.BYTES
                return ConnectSchema(SchemaType.BYTES if is_bytes else SchemaType.STRING)
            case Kind.ENUM:
                return self._enum(part)
            case Kind.ONE_OF | Kind.ANY_OF:
                return self._union(part)
            case Kind.ARRAY:
                return self._array(part)
            case Kind.OBJECT:
                return self._object(part)
            case Kind.NULL:
                raise self._error("Unsupported schema type: null alone")
        raise self._error(
            f"Unsupported schema type: {shown(part.subschema.node)} does not say what type its values have"
        )

    def _number(self, part: Part) -> SchemaType:
        type_ = part.notes.get(names.TYPE)
        if type_ is None:
            return SchemaType.INT64 if part.kind is Kind.INTEGER else SchemaType.FLOAT64
        if type_ not in _NUMBERS:
            raise self._error(f"Unsupported type {type_}: `{names.TYPE}` of a number is one of {', '.join(_NUMBERS)}")
        return _NUMBERS[type_]

    def _enum(self, part: Part) -> ConnectSchema:
        symbols = part.subschema.node["enum"]
        if not isinstance(symbols, list):
            raise self._error(f"`enum` is not a list: {shown(symbols)}")
        generalized = self._settings.generalized_sum_type_support
        parameter = sums.ENUM if generalized else self.enum
        parameters = {parameter: ""}
        for index, symbol in enumerate(symbols):
            text = names.NULL_MARKER if symbol is None else symbol if isinstance(symbol, str) else shown(symbol)
            parameters[f"{parameter}.{text}"] = str(index) if generalized else text
        return ConnectSchema(SchemaType.STRING, parameters=parameters)

    def _union(self, part: Part) -> ConnectSchema:
        generalized = self._settings.generalized_sum_type_support
        name, prefix, parameters = self.union, self.member, None
        if generalized:
            name, prefix = f"{sums.UNION_NAME}{self._unions}", sums.MEMBER
            parameters = {sums.UNION: name}
            self._unions += 1
        others = [member for member in part.members if member.kind is not Kind.NULL]
        fields = []
        for index, member in enumerate(others):
            with self._within(f"{part.kind}[{index}]"):
                fields.append(Field(f"{prefix}{index + self.first}", self.schema(member, optional=True)))
        nullable = len(others) < len(part.members)
        return ConnectSchema(
            SchemaType.STRUCT, name=name, parameters=parameters, fields=tuple(fields), optional=nullable
        )

    def _array(self, part: Part) -> ConnectSchema:
        items = part.subschema.node.get("items")
        if items is None or isinstance(items, list):
            raise self._error("Array schema did not specify the items type")
        item = parse(part.subschema.below(items))
        if part.notes.get(names.TYPE) == names.MAP and item.kind is Kind.OBJECT:
            return self._entries(item)
        with self._within("[]"):
            return ConnectSchema(SchemaType.ARRAY, value_schema=self.schema(item))

    def _entries(self, entry: Part) -> ConnectSchema:
        members = properties(entry)
        if not {names.KEY, names.VALUE} <= members.keys():
            raise self._error("a map's entries must have the properties key and value")
        with self._within("[]"):
            keys, values = (self.schema(parse(members[name])) for name in (names.KEY, names.VALUE))
        if has_map(keys):
            raise self._error("Maps as keys of a map are not supported")
        return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values)

    def _object(self, part: Part) -> ConnectSchema:
        if part.notes.get(names.TYPE) != names.MAP:
            return self._struct(properties(part), required(part))
        values = part.subschema.node.get("additionalProperties")
        if not isinstance(values, dict):
            raise self._error("a map's schema must have `additionalProperties`, the schema of its values")
        with self._within("{}"):
            value_schema = self.schema(parse(part.subschema.below(values)))
        return ConnectSchema(SchemaType.MAP, key_schema=ConnectSchema(SchemaType.STRING), value_schema=value_schema)

    def _struct(self, members: dict[str, Subschema], needed: frozenset[str]) -> ConnectSchema:
        fields = []
        for name, member in _by_index(members):
            optional = self._settings.use_optional_for_nonrequired and name not in needed
            with self._within(name):
                fields.append(Field(name, self.schema(parse(member), optional=optional)))
        return ConnectSchema(SchemaType.STRUCT, fields=tuple(fields))

    # allOf

    def _all_of(self, part: Part, version: int | None, optional: bool) -> ConnectSchema:
        """The struct of all their properties, or else the part that says most about the type."""
        members: dict[str, Subschema] = {}
        needed: dict[str, bool] = {}
        for member in part.members:
            self._collect(member, members, needed, [])
        if members:
            struct = self._struct(members, frozenset(name for name in needed if needed[name]))
            return replace(struct, optional=optional)
        chosen = _telling(part)
        if chosen is None:
            raise self._error(f"Unsupported criterion allOf: {shown(part.subschema.node)} has no type that stands out")
        return self.schema(chosen, version, optional=optional)

    def _collect(self, part: Part, members: dict[str, Subschema], needed: dict[str, bool], seen: list[Any]) -> None:
        self._count_one()
        if part.kind is Kind.ALL_OF:
            for member in part.members:
                self._collect(member, members, needed, seen)
        elif part.kind is Kind.OBJECT:
            own = properties(part)
            members.update(own)
            needed.update({name: name in required(part) for name in own})
        elif part.kind is Kind.REFERENCE:
            subschema = self._documents.referred(part.subschema, part.subschema.node["$ref"])
            if not any(subschema.node is node for node in seen):
                seen.append(subschema.node)
                self._collect(parse(subschema), members, needed, seen)

    # Annotations

    def _annotated(self, schema: ConnectSchema, part: Part, version: int | None, optional: bool) -> ConnectSchema:
        title, doc = part.notes.get(self.title), part.notes.get(self.description)
        own = part.notes.get(names.VERSION)
        made = replace(
            schema,
            name=schema.name or (title if isinstance(title, str) else None),
            version=own if type(own) is int else version,
            doc=doc if isinstance(doc, str) else None,
            parameters=self._parameters(schema, part),
            optional=schema.optional or optional,
        )
        if logical_name(made) == DECIMAL:
            self._check_scale(made)
        return replace(made, default=self._default(made, part))

    def _parameters(self, schema: ConnectSchema, part: Part) -> dict[str, str] | None:
        given = part.notes.get(names.PARAMETERS)
        own = dict(schema.parameters or {})
        if given is None:
            return own or None
        if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
            raise self._error(f"`{names.PARAMETERS}` is not an object of strings")
        return own | given or None

    def _default(self, schema: ConnectSchema, part: Part) -> Any:
        node = part.notes.get("default")
        if node is None:
            return None
        try:
            return of_arrow(schema, reader(schema)(json.loads(json.dumps(node), parse_float=Decimal)))
        except DataError as error:
            self._ignored(error)
            return None


def _by_index(members: dict[str, Subschema]) -> list[tuple[str, Subschema]]:
    """Properties in the order of ``connect.index``; one without it comes as it is listed."""
    indexed: list[tuple[int, str, Subschema]] = []
    for name, subschema in members.items():
        index = subschema.node.get(names.INDEX) if isinstance(subschema.node, dict) else None
        indexed.append((index if type(index) is int else len(indexed), name, subschema))
    return [(name, subschema) for _, name, subschema in sorted(indexed, key=lambda entry: entry[0])]


def _telling(part: Part) -> Part | None:
    """The member of an allOf without properties that stands for it: one that is combined, else that of a string or
    number with its const, enum or format; else the only one with a type.
    """
    by_kind = {member.kind: member for member in part.members}
    combined = [member for member in part.members if member.kind.is_combined]
    if combined:
        return combined[-1]
    string, number = by_kind.get(Kind.STRING), by_kind.get(Kind.INTEGER) or by_kind.get(Kind.NUMBER)
    if Kind.CONST in by_kind and (string or number):
        return string or number
    if Kind.ENUM in by_kind and (string or number):
        return by_kind[Kind.ENUM] if string else number
    if string and string.has_format:
        return number or string
    typed = [member for member in part.members if member.kind in _TYPED]
    return by_kind.get(Kind.REFERENCE) or (typed[0] if len(typed) == 1 else None)
