"""Keys of the Protobuf format, as in ``io.confluent.connect.protobuf.ProtobufDataConfig``."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_kconnect.connect.config import Importance
from airflow_kconnect.converters.registered.flags import NULLS_STAY, FlagSettings, flag


@dataclass(frozen=True)
class ProtobufSettings(FlagSettings):
    """Values of the keys.

    :param as_amazon: what is not set is null only with the label `optional`, or if it is a date; a oneof is never null.
    """

    generalized_sum_type_support: bool = flag(
        False, "Whether enums and oneofs are represented in Connect as in the Avro and JSON Schema formats."
    )
    ignore_default_for_nullables: bool = flag(False, NULLS_STAY)
    enhanced_protobuf_schema_support: bool = flag(
        False, "Whether names of Connect's schemas have the package of the Protobuf type."
    )
    scrub_invalid_names: bool = flag(False, "Whether characters that names in Protobuf cannot have are replaced.")
    int_for_enums: bool = flag(False, "Whether enums are integers in Connect, not strings.")
    optional_for_nullables: bool = flag(
        False,
        "Whether optional fields of Connect have the label `optional` in Protobuf, and only those are optional.",
    )
    optional_for_proto2: bool = flag(
        True, "Whether optional fields of proto2 that are not set are null, not their default."
    )
    wrapper_for_nullables: bool = flag(
        False, "Whether optional primitive fields of Connect are wrapper messages in Protobuf."
    )
    wrapper_for_raw_primitives: bool = flag(True, "Whether messages of a wrapper type are read as primitive values.")
    generate_struct_for_nulls: bool = flag(
        False, "Whether message fields that are not set are structs of defaults, not null."
    )
    generate_index_for_unions: bool = flag(
        True, "Whether the name of a oneof's struct ends with an underscore and the index of the oneof.", Importance.LOW
    )
    flatten_unions: bool = flag(False, "Whether fields of a oneof are fields of the struct around it.", Importance.LOW)
    as_amazon: bool = False
