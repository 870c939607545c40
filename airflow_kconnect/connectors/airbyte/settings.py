"""The keys of the connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connectors.programs.settings import (
    NO_SCHEMAS,
    Keys,
    ProgramSettings,
    program_config,
    state_problems,
)
from airflow_kconnect.validation.connector_keys import KCONNECT
from airflow_kconnect.worker_config.keys import AIRBYTE_SOURCES

KEYS = Keys("airbyte", "source")
CHECK = "airbyte.check"
MODE, CURSOR, PRIMARY_KEY = "sync_mode", "cursor_field", "primary_key"
HINTS = (MODE, CURSOR, PRIMARY_KEY)


def airbyte_config() -> ConfigDef:
    """The keys that are known by name; there are also `airbyte.config.*` and `airbyte.hints.*`."""
    catalog = (
        "`discover`: the source says which streams it has whenever a run begins; or its catalog as JSON, or the "
        "absolute path of a file with one."
    )
    config = program_config(KEYS, "airbyte-source-faker==7.2.1", AIRBYTE_SOURCES, catalog, schemas=NO_SCHEMAS)
    return config.define(
        CHECK,
        Type.BOOLEAN,
        False,
        Importance.LOW,
        "Whether the source tests its connection (`check`) before it reads anything, which is one more start of it.",
        group=KCONNECT,
    )


def settings_of(props: Mapping[str, str]) -> ProgramSettings:
    """A configuration, parsed."""
    settings = ProgramSettings.of(KEYS, airbyte_config(), props)
    return replace(settings, checks=bool(airbyte_config().parse(props)[CHECK]))


def offset_problems(partition: Mapping[str, object], offset: Offset) -> list[str]:
    """What is wrong with an offset that is to be committed."""
    if not {"source"} <= set(partition) <= {"source", "stream"}:
        text = f"the source partition {dict(partition)} is not of this connector"
        return [f"{text}: it needs `source`, and `stream` if each stream has a state of its own"]
    return state_problems(partition.get("stream", partition["source"]), offset)
