"""What starts the program of a configuration."""

from __future__ import annotations

from pathlib import Path

from airflow_kconnect.connectors.programs.environments import installed
from airflow_kconnect.connectors.programs.settings import ProgramSettings


def command_of(settings: ProgramSettings) -> tuple[str, ...]:
    """What starts the program; installs it, if need be. :raises ConnectError: it cannot be installed."""
    if settings.command is not None:
        return (settings.command,)
    return installed(settings.requirements, executable=settings.executable, key=settings.keys.package).command


def environment_of(settings: ProgramSettings) -> Path | None:
    """The folder of its environment, once it is installed; None: it is not installed by this package."""
    return None if settings.command is not None else Path(command_of(settings)[0]).parents[1]
