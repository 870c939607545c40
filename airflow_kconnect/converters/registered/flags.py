"""The keys of a format that are true or false: the fields of its settings define them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.registry.keys import CACHED

NULLS_STAY = "Whether a null in a field with a default is written as null instead of the default."
_IMPORTANCE, _DOCUMENTATION = "importance", "documentation"


def flag(default: bool, documentation: str, importance: Importance = Importance.MEDIUM) -> Any:
    """A field that is a key: its name has dots there."""
    return field(default=default, metadata={_IMPORTANCE: importance, _DOCUMENTATION: documentation})


@dataclass(frozen=True)
class FlagSettings:
    """The base of the settings of a format: values of its keys."""

    @classmethod
    def config(cls) -> ConfigDef:
        """A definition with the flags."""
        definition = ConfigDef()
        for each in cls._flags():
            about = each.metadata
            definition.define(_key(each), Type.BOOLEAN, each.default, about[_IMPORTANCE], about[_DOCUMENTATION])
        return definition

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From parsed values; keys that are missing have their defaults."""
        return cls(**{each.name: values[_key(each)] for each in cls._flags() if _key(each) in values})

    @classmethod
    def _flags(cls) -> list[Field[Any]]:
        return [each for each in fields(cls) if _IMPORTANCE in each.metadata]


def _key(flag_field: Field[Any]) -> str:
    return flag_field.name.replace("_", ".")


def define_schema_cache(definition: ConfigDef) -> ConfigDef:
    """Add the key for the size of Confluent's cache, which has no effect here."""
    return definition.define(
        "schemas.cache.config",
        Type.INT,
        1000,
        Importance.LOW,
        "Size of the cache of converted schemas.",
        without_effect=CACHED,
    )
