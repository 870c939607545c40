"""What starts the program of a configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from airflow_kconnect.connectors.programs.environments import installed
from airflow_kconnect.connectors.programs.inherited import inherited_variables
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.secrets import Secrets
from airflow_kconnect.connectors.programs.settings import ProgramSettings


def command_of(settings: ProgramSettings) -> tuple[str, ...]:
    """What starts the program; installs it, if need be. :raises ConnectError: it cannot be installed."""
    if settings.command is not None:
        return (settings.command,)
    return installed(settings.requirements, executable=settings.executable, key=settings.keys.package).command


def environment_of(settings: ProgramSettings) -> Path | None:
    """The folder of its environment, once it is installed; None: it is not installed by this package."""
    return _environment(settings, command_of(settings))


def _environment(settings: ProgramSettings, command: tuple[str, ...]) -> Path | None:
    return None if settings.command is not None else Path(command[0]).parents[1]


def started(
    settings: ProgramSettings,
    arguments: Iterable[str],
    files: Mapping[str, str],
    secrets: frozenset[str] = frozenset(),
) -> Program:
    """The program, running.

    :param files: those that the arguments name, besides its configuration, `config.json`. :param secrets: names of
        members of the configuration that are secrets, whatever they look like.
    :raises ConnectError: it cannot be run.
    """
    config, command = settings.program_config(), command_of(settings)
    return Program(
        settings.name,
        [*command, *arguments],
        {"config.json": json.dumps(config), **files},
        variables=inherited_variables(_environment(settings, command)),
        secrets=Secrets(config, secrets),
        idle_s=settings.idle_s,
    )
