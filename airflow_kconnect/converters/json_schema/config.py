"""Keys of the JSON Schema format, as in ``io.confluent.connect.json.JsonSchemaDataConfig`` and the JSON serializers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, invalid
from airflow_kconnect.converters.json.values import BASE64, NUMERIC
from airflow_kconnect.converters.registered.flags import NULLS_STAY, FlagSettings, flag
from airflow_kconnect.registry.keys import CACHED

_DISABLED = "DISABLED"
_FROM_CLASSES = "it is about schemas made from Java classes; Connect's data have a schema"
_FROM_OBJECTS = "it is about how Java objects are written; Connect's data have a form of their own"
_INTO_OBJECTS = "it is about the Java class of what is read; a converter always reads Connect's data"
_WITHOUT_EFFECT = (
    ("ignore.modern.dialects", Type.BOOLEAN, False, "schemas of all drafts are read by the same rules"),
    ("schemas.cache.size", Type.INT, 1000, CACHED),
    ("schemas.cache.config", Type.INT, 1000, CACHED),
    ("json.schema.spec.version", Type.STRING, "draft_7", _FROM_CLASSES),
    ("json.oneof.for.nullables", Type.BOOLEAN, True, _FROM_CLASSES),
    ("json.default.property.inclusion", Type.STRING, None, _FROM_OBJECTS),
    ("json.fail.unknown.properties", Type.BOOLEAN, True, _INTO_OBJECTS),
    ("json.write.dates.iso8601", Type.BOOLEAN, False, _FROM_OBJECTS),
    ("json.indent.output", Type.BOOLEAN, False, "payloads are always compact"),
    ("json.key.type", Type.STRING, "java.lang.Object", _INTO_OBJECTS),
    ("json.value.type", Type.STRING, "java.lang.Object", _INTO_OBJECTS),
    ("type.property", Type.STRING, "javaType", _INTO_OBJECTS),
    ("json.type.allowed.packages", Type.LIST, "*", _INTO_OBJECTS),
    ("json.schema.scan.packages", Type.LIST, "", _FROM_CLASSES),
    ("json.envelope.detection", Type.BOOLEAN, True, _FROM_OBJECTS),
    ("json.validate.before.domain.rules", Type.BOOLEAN, False, "rules of the registry are not executed"),
)


def json_schema_config() -> ConfigDef:
    """The format's keys, without those of the registry."""
    definition = JsonSchemaSettings.config()
    define_decimal_format(definition)
    definition.define(
        "preserve.additional.properties",
        Type.BOOLEAN,
        False,
        Importance.MEDIUM,
        "Whether properties that the schema does not name are kept. Not supported: they are dropped.",
        validator=_check_dropped,
    )
    definition.define(
        "validation.rules.execution",
        Type.STRING,
        _DISABLED,
        Importance.MEDIUM,
        "When rules in schemas are executed. Not supported: they are not executed.",
        validator=ValidString.in_(_DISABLED),
    )
    for name, type_, value, why in _WITHOUT_EFFECT:
        definition.define(name, type_, value, Importance.LOW, "See Confluent's documentation.", without_effect=why)
    return definition


def define_decimal_format(definition: ConfigDef) -> ConfigDef:
    """Add the key for how decimals are written."""
    return definition.define(
        "decimal.format",
        Type.STRING,
        BASE64,
        Importance.LOW,
        "How Decimal values are written: BASE64 (bytes of the unscaled value) or NUMERIC (a JSON number).",
        validator=ValidString.in_case_insensitive(BASE64, NUMERIC),
    )


def _check_dropped(name: str, value: Any) -> None:
    if value:
        raise invalid(
            name, value, "properties that the schema does not name cannot be kept; name them in it, or remove this key"
        )


@dataclass(frozen=True)
class JsonSchemaSettings(FlagSettings):
    """Values of the keys.

    :param nulls_left_out: whether members that are null are not written; of Amazon's converter.
    """

    generalized_sum_type_support: bool = flag(
        False, "Whether enums and unions are represented in Connect as in the Avro and Protobuf formats."
    )
    ignore_default_for_nullables: bool = flag(False, NULLS_STAY)
    object_additional_properties: bool = flag(
        True, "Whether the schemas that are registered allow properties that they do not name."
    )
    use_optional_for_nonrequired: bool = flag(
        False, "Whether properties that the schema does not list as required are optional in Connect."
    )
    flatten_singleton_unions: bool = flag(True, "Whether a union of one type is read as that type.", Importance.LOW)
    json_fail_invalid_schema: bool = flag(False, "Whether payloads that do not match their schema are bad records.")
    decimal_format: str = BASE64
    nulls_left_out: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        return replace(super().of(values), decimal_format=str(values.get("decimal.format", BASE64)).upper())
