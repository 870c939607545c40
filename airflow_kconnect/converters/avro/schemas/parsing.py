"""Parses Avro schemas. Types of referenced schemas are resolved by name."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.schemas.schema import (
    NAMED,
    NO_DEFAULT,
    PRIMITIVES,
    AvroDocument,
    AvroField,
    AvroSchema,
    AvroType,
)
from airflow_kconnect.converters.registered.schema_walk import shown
from airflow_kconnect.registry.schema import RegisteredSchema

_OWN_KEYS = frozenset(
    ("type", "name", "namespace", "doc", "aliases", "fields", "symbols", "default", "size", "items", "values")
)
_FIELD_KEYS = frozenset(("name", "type", "doc", "default", "order", "aliases"))


def parse_schema(schema: RegisteredSchema) -> AvroDocument:
    """Parse a schema and what it refers to.

    :raises DataError: it is not an Avro schema.
    """
    parser = _Parser()
    try:
        return AvroDocument(parser.document(schema), parser.named)
    except RecursionError as error:
        raise _invalid("it nests too deeply") from error


def _invalid(problem: str) -> DataError:
    return DataError(f"The Avro schema is invalid: {problem}")


class _Parser:
    def __init__(self) -> None:
        self.named: dict[str, AvroSchema] = {}
        self._open: set[str] = set()
        self._parsed: set[str] = set()

    def document(self, schema: RegisteredSchema) -> AvroSchema:
        for _, referenced in schema.references:
            if referenced.text not in self._parsed:
                self.document(referenced)
        self._parsed.add(schema.text)
        try:
            node = json.loads(schema.text)
        except ValueError as error:
            raise _invalid(f"it is not JSON: {error}") from error
        return self._schema(node, None)

    def _schema(self, node: Any, namespace: str | None) -> AvroSchema:
        if isinstance(node, str):
            return self._by_name(node, namespace)
        if isinstance(node, list):
            return self._union(node, namespace)
        type_ = node.get("type") if isinstance(node, dict) else None
        if isinstance(type_, dict | list):
            return self._schema(type_, namespace)
        if not isinstance(type_, str):
            raise _invalid(f"no type in {shown(node)}")
        if type_ in NAMED or type_ == "error":
            return self._define(AvroType.RECORD if type_ == "error" else AvroType(type_), node, namespace)
        if type_ in PRIMITIVES:
            return AvroSchema(AvroType(type_), props=_props(node, _OWN_KEYS))
        match type_:
            case AvroType.ARRAY | AvroType.MAP:
                member = "items" if type_ == AvroType.ARRAY else "values"
                if member not in node:
                    raise _invalid(f"no `{member}` in {shown(node)}")
                items = self._schema(node[member], namespace)
                return AvroSchema(AvroType(type_), items=items, props=_props(node, _OWN_KEYS))
        return self._by_name(type_, namespace)

    def _by_name(self, name: str, namespace: str | None) -> AvroSchema:
        if name in PRIMITIVES:
            return AvroSchema(AvroType(name))
        candidates = (name,) if "." in name or not namespace else (f"{namespace}.{name}", name)
        for candidate in candidates:
            if candidate in self._open:
                return AvroSchema(AvroType.REFERENCE, name=candidate)
            if candidate in self.named:
                return self.named[candidate]
        raise _invalid(f"it uses type {shown(name)}, which neither it nor its references define")

    def _union(self, nodes: list[Any], namespace: str | None) -> AvroSchema:
        branches = tuple(self._schema(node, namespace) for node in nodes)
        seen: set[str] = set()
        for branch in branches:
            if branch.type is AvroType.UNION:
                raise _invalid("a union contains another one")
            key = branch.name or branch.type
            if key in seen:
                raise _invalid(f"a union contains {key} twice")
            seen.add(key)
        return AvroSchema(AvroType.UNION, branches=branches)

    def _define(self, type_: AvroType, node: dict[str, Any], namespace: str | None) -> AvroSchema:
        full_name = _full_name(node, namespace)
        if full_name in self.named or full_name in self._open:
            raise _invalid(f"type {full_name} is defined twice")
        doc = node.get("doc")
        common: dict[str, Any] = {
            "name": full_name,
            "doc": doc if isinstance(doc, str) else None,
            "props": _props(node, _OWN_KEYS),
        }
        if type_ is AvroType.FIXED:
            schema = AvroSchema(type_, size=_size(node), **common)
        elif type_ is AvroType.ENUM:
            default = node.get("default")
            schema = AvroSchema(
                type_, symbols=_symbols(node), default=default if isinstance(default, str) else None, **common
            )
        else:
            self._open.add(full_name)
            fields = self._fields(node, full_name.rpartition(".")[0] or None)
            self._open.remove(full_name)
            schema = AvroSchema(type_, fields=fields, **common)
        self.named[full_name] = schema
        return schema

    def _fields(self, node: dict[str, Any], namespace: str | None) -> tuple[AvroField, ...]:
        nodes = node.get("fields")
        if not isinstance(nodes, list):
            raise _invalid(f"no `fields` in {shown(node)}")
        fields = tuple(self._field(member, namespace) for member in nodes)
        if len({member.name for member in fields}) < len(fields):
            raise _invalid(f"two fields of {shown(node.get('name'))} have the same name")
        return fields

    def _field(self, node: Any, namespace: str | None) -> AvroField:
        if not isinstance(node, dict) or not isinstance(node.get("name"), str) or "type" not in node:
            raise _invalid(f"a field has no name or no type: {shown(node)}")
        doc, aliases = node.get("doc"), node.get("aliases")
        return AvroField(
            name=node["name"],
            schema=self._schema(node["type"], namespace),
            doc=doc if isinstance(doc, str) else None,
            default=node.get("default", NO_DEFAULT),
            aliases=tuple(alias for alias in aliases if isinstance(alias, str)) if isinstance(aliases, list) else (),
            props=_props(node, _FIELD_KEYS),
        )


def _full_name(node: dict[str, Any], namespace: str | None) -> str:
    name = node.get("name")
    if not isinstance(name, str) or not name:
        raise _invalid(f"no `name` in {shown(node)}")
    if "." in name:
        return name.removeprefix(".")
    own = node.get("namespace", namespace)
    return f"{own}.{name}" if isinstance(own, str) and own else name


def _symbols(node: dict[str, Any]) -> tuple[str, ...]:
    symbols = node.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
        raise _invalid(f"no `symbols` in {shown(node)}")
    return tuple(symbols)


def _size(node: dict[str, Any]) -> int:
    size = node.get("size")
    if type(size) is not int or not 0 <= size < 2**31:
        raise _invalid(f"no `size` in {shown(node)}")
    return size


def _props(node: dict[str, Any], own: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name not in own}
