"""Runs of a tap: to discover its streams, and to read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.programs.commands import command_of
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.secrets import Secrets
from airflow_kconnect.connectors.programs.settings import DISCOVER, NONE, ProgramSettings, json_file
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
        case text if text.startswith("{"):
            return Catalog(json.loads(text), settings)
        case path:
            return Catalog(json_file(path, settings.keys.catalog), settings)


def _discovered(settings: ProgramSettings) -> dict[str, Any]:
    program = started(settings, {}, "--discover")
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


def started(settings: ProgramSettings, files: Mapping[str, str], *arguments: str) -> Program:
    """The tap, running.

    :param files: those that the arguments name, besides its configuration. :raises ConnectError: it cannot be run.
    """
    config = settings.program_config()
    return Program(
        settings.name,
        [*command_of(settings), "--config", "config.json", *arguments],
        {"config.json": json.dumps(config), **files},
        secrets=Secrets(config),
        idle_s=settings.idle_s,
    )
