"""Names that ProtobufData gives to types, parameters and options, and how it makes invalid names valid.

Source: ``io.confluent.connect.protobuf.ProtobufData``.
"""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.registered import sums

NAMESPACE = "io.confluent.connect.protobuf"
DEFAULT_NAME = "ConnectDefault"
ENUM = f"{NAMESPACE}.Enum"
UNION = f"{NAMESPACE}.Union"
TAG = f"{NAMESPACE}.Tag"
TYPE = f"{NAMESPACE}.Type"
WRAPPER = f"{NAMESPACE}.Wrapper"

PRECISION = "connect.decimal.precision"
CONNECT_TYPE = "connect.type"
MAP_ENTRY_SUFFIX = "Entry"

MESSAGES_OF_LOGICAL_TYPES = {
    DECIMAL: "confluent.type.Decimal",
    DATE: "google.type.Date",
    TIME: "google.type.TimeOfDay",
    TIMESTAMP: "google.protobuf.Timestamp",
}
LOGICAL_TYPES = {message: name for name, message in MESSAGES_OF_LOGICAL_TYPES.items()}
VARIANT = "confluent.type.Variant"

GLUE_DECIMAL = "additionalTypes.Decimal"
"""What Amazon's converter has decimals as: whole units, and billionths."""
GLUE_TYPE, GLUE_ONE_OF = "protobuf.type", "oneof"

WRAPPERS = {
    "google.protobuf.DoubleValue": SchemaType.FLOAT64,
    "google.protobuf.FloatValue": SchemaType.FLOAT32,
    "google.protobuf.Int64Value": SchemaType.INT64,
    "google.protobuf.UInt64Value": SchemaType.INT64,
    "google.protobuf.Int32Value": SchemaType.INT32,
    "google.protobuf.UInt32Value": SchemaType.INT64,
    "google.protobuf.BoolValue": SchemaType.BOOLEAN,
    "google.protobuf.StringValue": SchemaType.STRING,
    "google.protobuf.BytesValue": SchemaType.BYTES,
}
"""Messages that hold one primitive value, in the order of ``google/protobuf/wrappers.proto``."""

_VALID = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def scrubbed(name: str) -> str:
    """A name as ``scrub.invalid.names`` makes it valid: form-encoded, and what is still invalid is ``_``."""
    if not name or _VALID.fullmatch(name):
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    if encoded[0].isdigit() or encoded[0] == "_":
        encoded = "x" + encoded
    return re.sub(r"[^A-Za-z0-9_]", "_", encoded)


def split_name(full_name: str) -> tuple[str | None, str]:
    """Package (None if there is none) and simple name."""
    package, _, name = full_name.rpartition(".")
    return package or None, name


def map_entry_name(name: str) -> str:
    """Name of the message that holds an entry of a map (``ProtobufSchema.toMapEntry``)."""
    if "_" in name:
        name = "".join(word.capitalize() for word in name.split("_"))
    return name + MAP_ENTRY_SUFFIX


def map_name(entry: str) -> str:
    """Name of the map with entries of a message type (``ProtobufSchema.toMapField``)."""
    package, name = split_name(entry)
    name = name.removesuffix(MAP_ENTRY_SUFFIX)
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return f"{package}.{name}" if package else name


def is_union(schema: ConnectSchema) -> bool:
    """Whether a struct stands for a oneof: it has an optional member for each of its fields."""
    if schema.type is not SchemaType.STRUCT:
        return False
    given = schema.parameters or {}
    return (schema.name or "").startswith(UNION) or sums.UNION in given or given.get(GLUE_TYPE) == GLUE_ONE_OF
