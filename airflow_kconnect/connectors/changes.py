"""The key of sinks that says what happens to records whose fields their target does not have."""

from __future__ import annotations

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, nullable
from airflow_kconnect.validation.connector_keys import KCONNECT

SCHEMA_CHANGE = "kconnect.schema.change"
EVOLVE, FAIL, IGNORE = "evolve", "fail", "ignore"


def define_schema_change(config: ConfigDef, documentation: str) -> ConfigDef:
    """Define the key; what holds if it is not set is the connector's."""
    words = nullable(ValidString.in_case_insensitive(EVOLVE, FAIL, IGNORE))
    return config.define(SCHEMA_CHANGE, Type.STRING, None, Importance.MEDIUM, documentation,
                         validator=words, group=KCONNECT)  # fmt: skip
