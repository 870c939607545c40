"""Keys of the Protobuf format, as in ``io.confluent.connect.protobuf.ProtobufDataConfig``."""

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
        "Whether enums and oneofs are represented in Connect as in the Avro and JSON Schema formats.",
    ),
    (
        "ignore.default.for.nullables",
        False,
        Importance.MEDIUM,
        "Whether a null in a field with a default is written as null instead of the default.",
    ),
    (
        "enhanced.protobuf.schema.support",
        False,
        Importance.MEDIUM,
        "Whether names of Connect's schemas have the package of the Protobuf type.",
    ),
    (
        "scrub.invalid.names",
        False,
        Importance.MEDIUM,
        "Whether characters that names in Protobuf cannot have are replaced.",
    ),
    ("int.for.enums", False, Importance.MEDIUM, "Whether enums are integers in Connect, not strings."),
    (
        "optional.for.nullables",
        False,
        Importance.MEDIUM,
        "Whether optional fields of Connect have the label `optional` in Protobuf, and only those are optional.",
    ),
    (
        "optional.for.proto2",
        True,
        Importance.MEDIUM,
        "Whether optional fields of proto2 that are not set are null, not their default.",
    ),
    (
        "wrapper.for.nullables",
        False,
        Importance.MEDIUM,
        "Whether optional primitive fields of Connect are wrapper messages in Protobuf.",
    ),
    (
        "wrapper.for.raw.primitives",
        True,
        Importance.MEDIUM,
        "Whether messages of a wrapper type are read as primitive values.",
    ),
    (
        "generate.struct.for.nulls",
        False,
        Importance.MEDIUM,
        "Whether message fields that are not set are structs of defaults, not null.",
    ),
    (
        "generate.index.for.unions",
        True,
        Importance.LOW,
        "Whether the name of a oneof's struct ends with an underscore and the index of the oneof.",
    ),
    ("flatten.unions", False, Importance.LOW, "Whether fields of a oneof are fields of the struct around it."),
)


def protobuf_config() -> ConfigDef:
    """The format's keys, without those of the registry."""
    return define_schema_cache(flags_config(_FLAGS))


@dataclass(frozen=True)
class ProtobufSettings:
    """Values of the keys: each field is the key of that name.

    :param as_amazon: what is not set is null only with the label `optional`, or if it is a date; a oneof is never null.
    """

    generalized_sum_type_support: bool = False
    ignore_default_for_nullables: bool = False
    enhanced_protobuf_schema_support: bool = False
    scrub_invalid_names: bool = False
    int_for_enums: bool = False
    optional_for_nullables: bool = False
    optional_for_proto2: bool = True
    wrapper_for_nullables: bool = False
    wrapper_for_raw_primitives: bool = True
    generate_struct_for_nulls: bool = False
    generate_index_for_unions: bool = True
    flatten_unions: bool = False
    as_amazon: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ProtobufSettings:
        """From parsed values; keys that are missing have their defaults."""
        return cls(**flag_values(_FLAGS, values))
