"""Keys of the Avro format, as in ``io.confluent.connect.avro.AvroDataConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance
from airflow_kconnect.converters.registered.flags import define_schema_cache, flag_values, flags_config

_FLAGS = (
    (
        "generalized.sum.type.support",
        False,
        Importance.MEDIUM,
        "Whether enums and unions are represented in Connect as in the Protobuf and JSON Schema formats.",
    ),
    (
        "ignore.default.for.nullables",
        False,
        Importance.MEDIUM,
        "Whether a null in a field with a default is written as null instead of the default.",
    ),
    (
        "enhanced.avro.schema.support",
        False,
        Importance.MEDIUM,
        "Whether enums are written as enums again, and members of unions have full names.",
    ),
    (
        "scrub.invalid.names",
        False,
        Importance.MEDIUM,
        "Whether characters that names in Avro cannot have are replaced.",
    ),
    (
        "connect.meta.data",
        True,
        Importance.LOW,
        "Whether names, versions, docs, parameters and defaults of Connect's schemas are kept in the Avro schema.",
    ),
    (
        "discard.type.doc.default",
        False,
        Importance.LOW,
        "Whether only docs and defaults of fields are kept, not those of types.",
    ),
    (
        "allow.optional.map.keys",
        False,
        Importance.LOW,
        "Whether maps with optional string keys are written as Avro maps.",
    ),
    (
        "flatten.singleton.unions",
        True,
        Importance.LOW,
        "Whether a union of one type is read as that type.",
    ),
)


def avro_config() -> ConfigDef:
    """The format's keys, without those of the registry."""
    return define_schema_cache(flags_config(_FLAGS))


@dataclass(frozen=True)
class AvroSettings:
    """Values of the keys: each field is the key of that name."""

    generalized_sum_type_support: bool = False
    ignore_default_for_nullables: bool = False
    enhanced_avro_schema_support: bool = False
    scrub_invalid_names: bool = False
    connect_meta_data: bool = True
    discard_type_doc_default: bool = False
    allow_optional_map_keys: bool = False
    flatten_singleton_unions: bool = True

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> AvroSettings:
        """From parsed values; keys that are missing have their defaults."""
        return cls(**flag_values(_FLAGS, values))
