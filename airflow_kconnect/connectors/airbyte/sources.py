"""What a source says of itself: which secrets it has, whether it connects, which streams it has, and its errors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.connectors.airbyte.catalog import Catalog
from airflow_kconnect.connectors.programs.commands import environment_of, started
from airflow_kconnect.connectors.programs.messages import parsed
from airflow_kconnect.connectors.programs.running import Program
from airflow_kconnect.connectors.programs.secrets import Secrets
from airflow_kconnect.connectors.programs.settings import DISCOVER, NONE, ProgramSettings, given_catalog

_LOUD = {"ERROR", "FATAL"}


def secrets_of(settings: ProgramSettings) -> frozenset[str]:
    """The names of the members of its configuration that are secrets, as the source says (`spec`), or a manifest in its
    configuration.
    """
    return frozenset({*_specified(settings), *_secret_names(settings.program_config())})


def _specified(settings: ProgramSettings) -> list[str]:
    environment = environment_of(settings)
    kept = None if environment is None else environment / f".secrets-{settings.executable or 'default'}.json"
    if kept is not None and kept.is_file():
        found: list[str] = json.loads(kept.read_text("utf-8"))
        return found
    specification = _answer(settings, frozenset(), "SPEC", "spec", arguments=()).get("spec") or {}
    names = sorted(set(_secret_names(specification.get("connectionSpecification"))))
    if kept is not None:  # what a release has answered does not change
        part = kept.with_name(f"{kept.name}.{os.getpid()}")
        part.write_text(json.dumps(names), "utf-8")
        part.rename(kept)
    return names


def check(settings: ProgramSettings, secrets: frozenset[str]) -> None:
    """Have the source test its connection. :raises ConfigError: it cannot connect, and says why."""
    answer = _answer(settings, secrets, "CONNECTION_STATUS", "check").get("connectionStatus") or {}
    if answer.get("status") != "SUCCEEDED":
        why = Secrets(settings.program_config(), secrets).hidden(str(answer.get("message") or "it does not say why"))
        raise ConfigError({settings.keys.package: [f"{settings.name} cannot connect: {why}"]})


def catalog_of(settings: ProgramSettings, secrets: frozenset[str]) -> Catalog:
    """The streams to read.

    :raises ConfigError: it is wrong. :raises RetriableError: the source has failed.
    """
    match settings.catalog:
        case text if text == DISCOVER:
            return Catalog(_answer(settings, secrets, "CATALOG", "discover").get("catalog") or {}, settings)
        case text if text == NONE:
            raise ConfigError({settings.keys.catalog: ["a source of Airbyte needs a catalog"]})
        case _:
            return Catalog(given_catalog(settings), settings)


class Trouble:
    """What a source says about itself, for the log and for the error with which it may end."""

    def __init__(self, settings: ProgramSettings) -> None:
        self._settings = settings
        self._told: tuple[str, str] | None = None

    def note(self, message: Mapping[str, Any], program: Program) -> None:
        """A message that is not about data."""
        if message.get("type") == "LOG":
            log = message.get("log") or {}
            program.tell(f"{log.get('level')} {log.get('message')}", tail=log.get("level") in _LOUD)
        elif message.get("type") == "TRACE":
            trace = message.get("trace") or {}
            error = trace.get("error")
            if trace.get("type") == "ERROR" and isinstance(error, dict):
                text = str(error.get("message") or error.get("internal_message") or "it does not say why")
                self._told = str(error.get("failure_type")), program.hidden(text.splitlines()[0])
        elif message.get("type") == "CONTROL":
            program.tell("it has changed its configuration (CONTROL), which is not kept")

    def error(self) -> ConnectError | None:
        """The error that it has told; None if it has not."""
        if self._told is None:
            return None
        kind, why = self._told
        if kind == "config_error":
            return ConfigError({self._settings.keys.config.rstrip("."): [f"{self._settings.name} says: {why}"]})
        return RetriableError(f"{self._settings.name} has failed: {why}")


def _answer(
    settings: ProgramSettings,
    secrets: frozenset[str],
    wanted: str,
    command: str,
    arguments: tuple[str, ...] = ("--config", "config.json"),
) -> dict[str, Any]:
    """The message of a type that a command answers with."""
    program = started(settings, (command, *arguments), {}, secrets)
    trouble, found = Trouble(settings), None
    try:
        for line in program.lines():
            message = parsed(line, settings.name)
            trouble.note(message, program)
            found = message if message.get("type") == wanted else found
    except RetriableError as error:
        raise trouble.error() or RetriableError(f"`{command}`: {error}") from error
    finally:
        program.stop()
    if found is None:
        raise trouble.error() or ConfigError({settings.keys.package: [f"{settings.name} has not answered `{command}`"]})
    return found


def _secret_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        for name, member in properties.items() if isinstance(properties, Mapping) else ():
            if isinstance(member, Mapping) and member.get("airbyte_secret"):
                yield name
        for member in schema.values():
            yield from _secret_names(member)
    elif isinstance(schema, list):
        for item in schema:
            yield from _secret_names(item)
