"""Binds a Connect schema to an Avro schema: the one it was made from, the one made from it, or another version."""

from __future__ import annotations

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.constants import constant_bytes
from airflow_kconnect.converters.avro.payloads.plans import (
    Choice,
    Items,
    Leaf,
    Member,
    Node,
    Nullable,
    Pairs,
    Raw,
    Record,
    least_size,
)
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.schema import NO_DEFAULT, AvroDocument, AvroField, AvroSchema, AvroType
from airflow_kconnect.converters.avro.schemas.to_connect import is_map_entry, member_name
from airflow_kconnect.converters.types import decimal_scale, logical_name

_NUMBERS = (AvroType.INT, AvroType.LONG, AvroType.FLOAT, AvroType.DOUBLE)
# The first is what AvroData writes, the others are those to which Avro's rules promote it.
_WIRES: dict[SchemaType, tuple[AvroType, ...]] = {
    SchemaType.BOOLEAN: (AvroType.BOOLEAN,),
    SchemaType.INT8: _NUMBERS,
    SchemaType.INT16: _NUMBERS,
    SchemaType.INT32: _NUMBERS,
    SchemaType.INT64: _NUMBERS[1:],
    SchemaType.FLOAT32: _NUMBERS[2:],
    SchemaType.FLOAT64: _NUMBERS[3:],
    SchemaType.STRING: (AvroType.STRING, AvroType.ENUM, AvroType.BYTES),
    SchemaType.BYTES: (AvroType.BYTES, AvroType.FIXED),
}
_COLLECTIONS: dict[SchemaType, tuple[AvroType, ...]] = {
    SchemaType.STRUCT: (AvroType.RECORD,),
    SchemaType.ARRAY: (AvroType.ARRAY,),
    SchemaType.MAP: (AvroType.MAP, AvroType.ARRAY),
}
_DECIMAL_WIRES = (AvroType.BYTES, AvroType.FIXED)
_INTEGERS = (AvroType.INT, AvroType.LONG)
_UNITS = {
    "time-micros": 1_000,
    "timestamp-micros": 1_000,
    "timestamp-nanos": 1_000_000,
    "local-timestamp-micros": 1_000,
    "local-timestamp-nanos": 1_000_000,
}


def bind(schema: ConnectSchema, document: AvroDocument, settings: AvroSettings) -> Node:
    """The plan by which data of a Connect schema are read from, and written as, an Avro schema.

    :raises DataError: the Avro schema has no room for such data.
    """
    root = document.root
    if root.type is AvroType.BYTES:
        if schema.type is not SchemaType.BYTES:
            raise _mismatch(schema, root, "")
        return Raw(schema, "")
    return _Binder(document, settings).node(schema, root, "")


def _mismatch(schema: ConnectSchema, avro: AvroSchema, path: str) -> DataError:
    where = f"Field {path}" if path else "The data"
    ours = (logical_name(schema) or schema.type.name).rpartition(".")[2]
    return DataError(f"{where} of type {ours} cannot be written as Avro type {avro.name or avro.type}")


class _Binder:
    def __init__(self, document: AvroDocument, settings: AvroSettings) -> None:
        self._document = document
        self._settings = settings

    def node(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Node:
        avro = self._resolved(avro)
        if avro.type is AvroType.UNION:
            return self._union(schema, avro, path)
        match schema.type:
            case SchemaType.STRUCT if avro.type is AvroType.RECORD:
                return self._record(schema, avro, path)
            case SchemaType.ARRAY if avro.type is AvroType.ARRAY and schema.value_schema is not None:
                inner = self._item(schema.value_schema, avro.item_schema, path)
                return Items(schema, path, inner)
            case SchemaType.MAP:
                return self._map(schema, avro, path)
            case type_ if type_ in _WIRES:
                return self._leaf(schema, avro, path)
        raise _mismatch(schema, avro, path)

    def _resolved(self, avro: AvroSchema) -> AvroSchema:
        return self._document.named[avro.name or ""] if avro.type is AvroType.REFERENCE else avro

    # Primitive types

    def _leaf(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Leaf:
        name = logical_name(schema)
        wires = _WIRES[schema.type] if name is None else _DECIMAL_WIRES if name == DECIMAL else _INTEGERS
        # A timestamp needs 64 bits, as does a time in microseconds.
        if avro.type not in wires or (name == TIMESTAMP and avro.type is AvroType.INT):
            raise _mismatch(schema, avro, path)
        if name == DECIMAL:
            self._check_scale(schema, avro, path)
        is_instant = name in (TIME, TIMESTAMP)
        units = _UNITS.get(avro.logical_type or "", 1) if is_instant else 1
        if name == DATE and avro.logical_type not in (None, "date"):
            raise _mismatch(schema, avro, path)
        return Leaf(schema, path, avro.type, avro.size, avro.symbols, units)

    def _check_scale(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> None:
        theirs, ours = avro.props.get("scale", 0), decimal_scale(schema)
        if avro.logical_type == "decimal" and theirs != ours:
            raise DataError(f"Field {path} is a Decimal of scale {ours}, in the Avro schema its scale is {theirs}")

    # Structs

    def _record(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Record:
        ours = {self._written_name(member.name): index for index, member in enumerate(schema.fields)}
        members, used = [], set()
        for theirs in avro.fields:
            index = next((ours[name] for name in (theirs.name, *theirs.aliases) if name in ours), None)
            if index is None:
                members.append(Member(None, constant=self._constant(theirs, path)))
                continue
            used.add(index)
            member = schema.fields[index]
            node = self.node(member.schema, theirs.schema, _join(path, member.name))
            default = None if self._settings.ignore_default_for_nullables else member.schema.default
            members.append(Member(index, node, default=default))
        absent = {i: _join(path, f.name) for i, f in enumerate(schema.fields) if i not in used}
        return Record(schema, path, tuple(members), absent)

    def _written_name(self, name: str) -> str:
        return names.scrubbed(name) if self._settings.scrub_invalid_names else name

    def _constant(self, theirs: AvroField, path: str) -> bytes:
        """What is written in a field that the data do not have."""
        default = theirs.default
        if default is NO_DEFAULT:
            is_nullable = any(branch.type is AvroType.NULL for branch in theirs.schema.branches)
            if not is_nullable:
                raise DataError(
                    f"Field {_join(path, theirs.name)} of the Avro schema has no default, and the data do not have it"
                )
            default = None
        return constant_bytes(theirs.schema, default, self._document)

    # Arrays and maps

    def _item(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Node:
        node = self.node(schema, avro, f"{path}[]")
        if not least_size(node):
            raise DataError(f"Elements of {path} take no bytes in Avro: a short message could have any number of them")
        return node

    def _map(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Pairs:
        keys, values = schema.key_schema, schema.value_schema
        assert keys is not None and values is not None
        if avro.type is AvroType.MAP and keys.type is SchemaType.STRING:
            key = Leaf(keys, f"{path}[key]", AvroType.STRING)
            return Pairs(schema, path, key, self.node(values, avro.item_schema, f"{path}[]"))
        entry = self._resolved(avro.item_schema) if avro.type is AvroType.ARRAY else avro
        fields = {member.name: member.schema for member in entry.fields}
        if avro.type is not AvroType.ARRAY or not is_map_entry(entry) or fields.keys() != {"key", "value"}:
            raise _mismatch(schema, avro, path)
        node = Pairs(
            schema,
            path,
            self.node(keys, fields["key"], f"{path}[key]"),
            self.node(values, fields["value"], f"{path}[]"),
            value_first=entry.fields[0].name == "value",
        )
        if not least_size(node.key) + least_size(node.value):
            raise DataError(f"Entries of {path} take no bytes in Avro: a short message could have any number of them")
        return node

    # Unions

    def _union(self, schema: ConnectSchema, avro: AvroSchema, path: str) -> Node:
        branches = [(index, branch) for index, branch in enumerate(avro.branches) if branch.type is not AvroType.NULL]
        null_index = next((i for i, branch in enumerate(avro.branches) if branch.type is AvroType.NULL), None)
        if names.is_union(schema):
            return self._choice(schema, branches, null_index, path)
        problem = _mismatch(schema, avro, path)
        for index, branch in sorted(branches, key=lambda pair: self._distance(schema, pair[1])):
            try:
                return Nullable(schema, path, self.node(schema, branch, path), index, null_index)
            except DataError as error:
                problem = error if len(branches) == 1 else problem
        raise problem

    def _distance(self, schema: ConnectSchema, branch: AvroSchema) -> int:
        """How far a branch is from the type that AvroData would choose; 0 for a type of the same name."""
        if schema.name is not None and schema.name == branch.name:
            return 0
        types = (_WIRES | _COLLECTIONS)[schema.type]
        return 1 + (types.index(branch.type) if branch.type in types else len(types))

    def _choice(
        self, schema: ConnectSchema, branches: list[tuple[int, AvroSchema]], null_index: int | None, path: str
    ) -> Choice:
        chosen = []
        for position, member in enumerate(schema.fields):
            candidates = sorted(
                enumerate(branches), key=lambda pair: self._rank(member, *pair[1], same_place=pair[0] == position)
            )
            index, node = self._first(member.schema, [branch for _, branch in candidates], _join(path, member.name))
            chosen.append((index, position, node))
        return Choice(schema, path, tuple(chosen), null_index)

    def _rank(self, member: Field, index: int, branch: AvroSchema, *, same_place: bool) -> tuple[int, bool, bool]:
        """How well a branch suits a member: by type, by name, by place. The lowest is the best."""
        same_name = member_name(branch, index, self._settings) == member.name
        return self._distance(member.schema, branch), not same_name, not same_place

    def _first(self, schema: ConnectSchema, candidates: list[tuple[int, AvroSchema]], path: str) -> tuple[int, Node]:
        for index, branch in candidates:
            try:
                return index, self.node(schema, branch, path)
            except DataError:
                continue
        raise DataError(f"No branch of the union in the Avro schema can hold {path}")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
