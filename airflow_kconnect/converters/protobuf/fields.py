"""What Protobuf's descriptors say about fields, in the terms of ProtobufData."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connect.data import DATE, SchemaType
from airflow_kconnect.converters.protobuf import names
from airflow_kconnect.converters.protobuf.config import ProtobufSettings

_KINDS = {
    1: "double",
    2: "float",
    3: "int64",
    4: "uint64",
    5: "int32",
    6: "fixed64",
    7: "fixed32",
    8: "bool",
    9: "string",
    10: "group",
    11: "message",
    12: "bytes",
    13: "uint32",
    14: "enum",
    15: "sfixed32",
    16: "sfixed64",
    17: "sint32",
    18: "sint64",
}
"""By the numbers in ``google.protobuf.FieldDescriptorProto.Type``."""

CONNECT_TYPES = {
    "double": SchemaType.FLOAT64,
    "float": SchemaType.FLOAT32,
    "bool": SchemaType.BOOLEAN,
    "string": SchemaType.STRING,
    "bytes": SchemaType.BYTES,
    **dict.fromkeys(("int32", "sint32", "sfixed32"), SchemaType.INT32),
    **dict.fromkeys(("uint32", "fixed32", "int64", "uint64", "sint64", "fixed64", "sfixed64"), SchemaType.INT64),
}
USUAL_KINDS = {
    SchemaType.INT8: "int32",
    SchemaType.INT16: "int32",
    SchemaType.INT32: "int32",
    SchemaType.INT64: "int64",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "bool",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}


def kind(field: Any) -> str:
    """Protobuf's name of a field's type, or ``enum``, ``message``, ``group``."""
    return _KINDS[field.type]


def is_repeated(field: Any) -> bool:
    """Whether a field has any number of values; maps are repeated messages."""
    try:
        return bool(field.is_repeated)
    except AttributeError:  # before protobuf 6.31
        return bool(field.label == field.LABEL_REPEATED)


def is_map(field: Any) -> bool:
    """Whether ProtobufData reads a field as a map: also if it only looks like one, and is not a map for Protobuf."""
    if kind(field) != "message" or not is_repeated(field):
        return False
    entry = field.message_type
    members = [(member.name, is_repeated(member)) for member in entry.fields]
    return entry.name.endswith(names.MAP_ENTRY_SUFFIX) and members == [("key", False), ("value", False)]


def is_protobuf_map(field: Any) -> bool:
    """Whether a field is a map for Protobuf."""
    return bool(field.message_type.GetOptions().map_entry)


def wrapped(field: Any) -> SchemaType | None:
    """Type of the value in a wrapper message; None if the field is something else."""
    return names.WRAPPERS.get(field.message_type.full_name) if kind(field) == "message" else None


def oneof_of(field: Any) -> Any:
    """The oneof that has a field; None also for a proto3 optional, which Protobuf represents as a oneof."""
    oneof = field.containing_oneof
    return None if oneof is None or _is_synthetic(oneof) else oneof


def oneofs(descriptor: Any) -> list[Any]:
    """The oneofs of a message type, without those of proto3 optionals."""
    return [oneof for oneof in descriptor.oneofs if not _is_synthetic(oneof)]


def has_optional_keyword(field: Any) -> bool:
    """Whether a field has the label ``optional``, in proto3 or proto2."""
    if field.containing_oneof is not None:
        return _is_synthetic(field.containing_oneof)
    return _is_proto2(field.file) and not is_repeated(field) and not _is_required(field)


def is_nullable(field: Any, settings: ProtobufSettings) -> bool:
    """Whether a single value that is not set is null (``setStructField``)."""
    if settings.as_amazon:
        # A date without anything is not a date, which ends Amazon's converter.
        return has_optional_keyword(field) or _is_date(field)
    if settings.generate_struct_for_nulls:
        return False
    if kind(field) == "message":
        return True
    if _is_proto2(field.file):
        return settings.optional_for_proto2 and has_optional_keyword(field)
    return has_optional_keyword(field)


def _is_date(field: Any) -> bool:
    return kind(field) == "message" and field.message_type.full_name == names.MESSAGES_OF_LOGICAL_TYPES[DATE]


def union_name(oneof: Any, settings: ProtobufSettings) -> str:
    """Name of the field that holds the union of a oneof."""
    return f"{oneof.name}_{oneof.index}" if settings.generate_index_for_unions else str(oneof.name)


def _is_synthetic(oneof: Any) -> bool:
    if len(oneof.fields) != 1:
        return False
    from google.protobuf.descriptor_pb2 import DescriptorProto

    message = DescriptorProto()
    oneof.containing_type.CopyToProto(message)
    return any(field.proto3_optional for field in message.field if field.name == oneof.fields[0].name)


def _is_proto2(file: Any) -> bool:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    described = FileDescriptorProto()
    file.CopyToProto(described)
    return described.syntax in ("", "proto2")


def _is_required(field: Any) -> bool:
    try:
        return bool(field.is_required)
    except AttributeError:  # before protobuf 6.31
        return bool(field.label == field.LABEL_REQUIRED)
