"""The keys of the connector."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connectors.programs.settings import Keys, ProgramSettings, program_config, state_problems
from airflow_kconnect.worker_config.keys import SINGER_TAPS

KEYS = Keys("singer", "tap")
METHOD, REPLICATION_KEY, KEY_COLUMNS = "replication_method", "replication_key", "key_properties"
HINTS = (METHOD, REPLICATION_KEY, KEY_COLUMNS)


def singer_config() -> ConfigDef:
    """The keys that are known by name; there are also `singer.config.*` and `singer.hints.*`."""
    catalog = (
        "`discover`: the tap says which streams it has (`--discover`) whenever a run begins; `none`: it is run without "
        "a catalog, for taps that know none; or a catalog as JSON, or the absolute path of a file with one."
    )
    return program_config(KEYS, "tap-github==4.0.0", SINGER_TAPS, catalog)


def settings_of(props: Mapping[str, str]) -> ProgramSettings:
    """A configuration, parsed."""
    return ProgramSettings.of(KEYS, singer_config(), props)


def offset_problems(partition: Mapping[str, object], offset: Offset) -> list[str]:
    """What is wrong with an offset that is to be committed."""
    if set(partition) != {"tap"}:
        return [f"the source partition {dict(partition)} is not of this connector: it needs `tap`"]
    return state_problems(partition["tap"], offset)
