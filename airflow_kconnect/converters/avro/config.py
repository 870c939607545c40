"""Keys of the Avro format, as in ``io.confluent.connect.avro.AvroDataConfig``."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_kconnect.connect.config import Importance
from airflow_kconnect.converters.registered.flags import NULLS_STAY, FlagSettings, flag


@dataclass(frozen=True)
class AvroSettings(FlagSettings):
    """Values of the keys."""

    generalized_sum_type_support: bool = flag(
        False, "Whether enums and unions are represented in Connect as in the Protobuf and JSON Schema formats."
    )
    ignore_default_for_nullables: bool = flag(False, NULLS_STAY)
    enhanced_avro_schema_support: bool = flag(
        False, "Whether enums are written as enums again, and members of unions have full names."
    )
    scrub_invalid_names: bool = flag(False, "Whether characters that names in Avro cannot have are replaced.")
    connect_meta_data: bool = flag(
        True,
        "Whether names, versions, docs, parameters and defaults of Connect's schemas are kept in the Avro schema.",
        Importance.LOW,
    )
    discard_type_doc_default: bool = flag(
        False, "Whether only docs and defaults of fields are kept, not those of types.", Importance.LOW
    )
    allow_optional_map_keys: bool = flag(
        False, "Whether maps with optional string keys are written as Avro maps.", Importance.LOW
    )
    flatten_singleton_unions: bool = flag(True, "Whether a union of one type is read as that type.", Importance.LOW)
