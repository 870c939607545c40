"""Names that AvroData gives to types, properties and parameters, and how it makes invalid names valid.

Source: ``io.confluent.connect.avro.AvroData``.
"""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.registered import sums

NAMESPACE = "io.confluent.connect.avro"
DEFAULT_NAME = "ConnectDefault"
MAP_ENTRY = "MapEntry"
UNION = f"{NAMESPACE}.Union"
ENUM = f"{NAMESPACE}.Enum"
ANYTHING = f"{NAMESPACE}.Anything"

RECORD_DOC = f"{NAMESPACE}.record.doc"
FIELD_DOC = f"{NAMESPACE}.field.doc."
ENUM_DOC = f"{NAMESPACE}.enum.doc."
ENUM_DEFAULT = f"{NAMESPACE}.enum.default."
FIELD_DEFAULT = f"{NAMESPACE}.field.default"
TYPE_RECORD_DOC = "connect.record.doc"
TYPE_ENUM_DOC = "connect.enum.doc"


FIXED_SIZE = "connect.fixed.size"
PRECISION = "connect.decimal.precision"
DEFAULT_PRECISION = 64

_VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def split_name(full_name: str) -> tuple[str | None, str]:
    """Namespace (None if there is none) and simple name."""
    namespace, _, name = full_name.rpartition(".")
    return namespace or None, name


def is_valid_name(name: str) -> bool:
    """Whether Avro accepts a simple name."""
    return _VALID.fullmatch(name) is not None


def scrubbed(name: str) -> str:
    """A simple name as ``scrub.invalid.names`` makes it valid: form-encoded, and what is still invalid is ``_``."""
    if not name or is_valid_name(name):
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    if encoded[0].isdigit():
        encoded = "x" + encoded
    return re.sub(r"[^A-Za-z0-9_]", "_", encoded)


def scrubbed_full_name(full_name: str) -> str:
    """A name whose parts are all `scrubbed`."""
    return ".".join(map(scrubbed, full_name.split(".")))


def is_union(schema: ConnectSchema) -> bool:
    """Whether a struct stands for a union: it has an optional member for each branch."""
    if schema.type is not SchemaType.STRUCT:
        return False
    return schema.name == UNION or sums.UNION in (schema.parameters or {})


def is_fixed(schema: ConnectSchema) -> bool:
    """Whether bytes were, or become, an Avro ``fixed``."""
    named = schema.type is SchemaType.BYTES and schema.name is not None
    return named and FIXED_SIZE in (schema.parameters or {})
