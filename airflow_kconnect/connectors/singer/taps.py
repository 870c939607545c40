"""The streams of a tap: which it discovers, or is given."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.programs.commands import started
from airflow_kconnect.connectors.programs.settings import DISCOVER, NONE, ProgramSettings, given_catalog
from airflow_kconnect.connectors.singer.catalog import Catalog


def catalog_of(settings: ProgramSettings) -> Catalog | None:
    """The catalog with which the tap is to run; None: without one.

    :raises ConfigError: it is wrong. :raises RetriableError: the tap has failed.
    """
    match settings.catalog:
        case text if text == NONE:
            return None
        case text if text == DISCOVER:
            return Catalog(_discovered(settings), settings)
        case _:
            return Catalog(given_catalog(settings), settings)


def _discovered(settings: ProgramSettings) -> dict[str, Any]:
    program = started(settings, ("--config", "config.json", "--discover"), {})
    try:
        text = b"\n".join(program.lines())
    except RetriableError as error:
        raise RetriableError(f"the streams cannot be discovered: {error}") from error
    finally:
        program.stop()
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        why = f"{settings.name} has not written a catalog for `--discover`"
        raise ConfigError({settings.keys.catalog: [f"{why}: give it one, or set it to `{NONE}`"]})
    return found
