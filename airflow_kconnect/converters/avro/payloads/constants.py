"""The bytes of a default in an Avro schema: they are the same in all messages."""

from __future__ import annotations

import struct
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.schemas.schema import NO_DEFAULT, AvroDocument, AvroSchema, AvroType
from airflow_kconnect.registry.wire import varint


def constant_bytes(avro: AvroSchema, node: Any, document: AvroDocument) -> bytes:
    """A value as Avro's binary encoding has it.

    :param node: its JSON.
    :raises DataError: it is not a value of the schema.
    """
    try:
        return _Writer(document).value(avro, node)
    except (TypeError, ValueError, KeyError, RecursionError, struct.error) as error:
        raise DataError(f"The Avro schema has {node!r:.100} as a default of type {avro.name or avro.type}") from error


class _Writer:
    def __init__(self, document: AvroDocument) -> None:
        self._document = document

    def value(self, avro: AvroSchema, node: Any) -> bytes:
        match avro.type:
            case AvroType.REFERENCE:
                return self.value(self._document.named[avro.name or ""], node)
            case AvroType.UNION:
                return self._union(avro, node)
            case AvroType.RECORD:
                return b"".join(self._field(member.schema, member.default, node, member.name) for member in avro.fields)
            case AvroType.ARRAY:
                items = b"".join(self.value(avro.item_schema, item) for item in _of(node, list))
                return (varint(len(node)) + items if node else b"") + b"\0"
            case AvroType.MAP:
                entries = _of(node, dict).items()
                pairs = b"".join(_sized(key.encode()) + self.value(avro.item_schema, v) for key, v in entries)
                return (varint(len(node)) + pairs if node else b"") + b"\0"
        return _primitive(avro, node)

    def _field(self, avro: AvroSchema, default: Any, node: Any, name: str) -> bytes:
        value = _of(node, dict).get(name, default)
        if value is NO_DEFAULT:
            raise KeyError(name)
        return self.value(avro, value)

    def _union(self, avro: AvroSchema, node: Any) -> bytes:
        for index, branch in enumerate(avro.branches):
            try:
                return varint(index) + self.value(branch, node)
            except (TypeError, ValueError, KeyError, struct.error):
                continue
        raise TypeError("no branch has it")


def _of(node: Any, type_: type) -> Any:
    if not isinstance(node, type_) or (type_ is not bool and isinstance(node, bool)):
        raise TypeError(f"not a {type_.__name__}")
    return node


def _latin(node: Any) -> bytes:
    """The bytes that a default of bytes stands for."""
    return str(_of(node, str)).encode("latin-1")


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def _primitive(avro: AvroSchema, node: Any) -> bytes:
    match avro.type:
        case AvroType.NULL if node is None:
            return b""
        case AvroType.BOOLEAN:
            return b"\1" if _of(node, bool) else b"\0"
        case AvroType.INT | AvroType.LONG:
            struct.pack("<i" if avro.type is AvroType.INT else "<q", _of(node, int))
            return varint(node)
        case AvroType.FLOAT | AvroType.DOUBLE:
            number = float(node if isinstance(node, float) else _of(node, int))
            return struct.pack("<f" if avro.type is AvroType.FLOAT else "<d", number)
        case AvroType.STRING:
            return _sized(str(_of(node, str)).encode())
        case AvroType.BYTES:
            return _sized(_latin(node))
        case AvroType.FIXED if len(_latin(node)) == avro.size:
            return _latin(node)
        case AvroType.ENUM:
            return varint(avro.symbols.index(_of(node, str)))
    raise TypeError("not a value of the type")
