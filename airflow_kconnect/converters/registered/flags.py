"""The keys of a format that are true or false, as a table: their definitions, and their values for its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type

Flag = tuple[str, bool, Importance, str]
"""Key, default, importance, documentation."""
CACHED = "all schemas of a run are known while it lasts"


def flags_config(flags: Sequence[Flag]) -> ConfigDef:
    """A definition with these keys."""
    definition = ConfigDef()
    for name, default, importance, documentation in flags:
        definition.define(name, Type.BOOLEAN, default, importance, documentation)
    return definition


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


def flag_values(flags: Sequence[Flag], values: Mapping[str, Any]) -> dict[str, Any]:
    """Parsed values of these keys, by the names of the fields of a settings class; missing keys are left out."""
    return {name.replace(".", "_"): values[name] for name, *_ in flags if name in values}
