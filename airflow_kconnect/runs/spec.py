"""The run spec: what a job is to do, handed to it in a file that only its owner can read.

Shared by the job, the operators and the command line; depends on neither Airflow nor Spark.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from airflow_kconnect.connect.connector.upkeep import Upkeep
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.plugins.registry import registry

SUBMITTER = "KCONNECT_SUBMITTER_PID"
"""Environment variable: the process that waits for spark-submit, without which the job must end."""
SPARK_OPTIONS = "KCONNECT_SPARK_OPTIONS"
"""Environment variable: the options of spark-submit, a JSON list, for a job that starts Spark itself."""
PLUGINS = "plugins"
"""Of the data of a job: the files of plug-ins that it needs."""
_CLASS_KEYS = ("connector.class", ".type")


@dataclass(frozen=True)
class RecordsShown:
    """Show the next records of a source, and what each transformation makes of them, instead of moving them.

    :param most: at most this many. :param output: `preview.output.*`: the converters that write what is shown.
    """

    most: int
    output: Mapping[str, str]


@dataclass(frozen=True)
class RunSpec:
    """Everything that a job needs to know.

    :param config: the connector's configuration, as in Connect's JSON.
    :param worker: worker keys: ``bootstrap.servers``, ``group.id``, ``security.*`` ...
    :param kind: ``source`` or ``sink``: which kind of connector the caller expects; None for either.
    :param run_id: shown in reports and in the plan record.
    :param replay_dead_letters: a sink reads its dead-letter topic instead of its topics.
    :param replay: move this interval again; None: resume from the live offsets.
    :param dry_run: plan, and report what would be moved.
    :param preview: show records, and move none.
    :param upkeep: look after the sink's tables, and move no records.
    :param token: the prefix of each event of the job. Records may be printed, too, and cannot know it.
    :param origin: who starts the run, for its record: of a task ``dag``, ``task``, ``run``, ``map_index`` and ``try``;
        of a file ``file``, its absolute path, and ``host``.
    :param variables: the values that an Airflow task has looked up for variables in the configurations, by
        `Variable.address`; None without Airflow.
    """

    config: Mapping[str, Any]
    worker: Mapping[str, Any]
    kind: str | None = None
    run_id: str = ""
    replay_dead_letters: bool = False
    replay: Replay | None = None
    dry_run: bool = False
    preview: RecordsShown | None = None
    upkeep: Upkeep | None = None
    variables: Mapping[str, str] | None = field(default=None, repr=False)
    origin: Mapping[str, str | int] = field(default_factory=dict)
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False, compare=False)

    @property
    def configs(self) -> tuple[Mapping[str, Any], ...]:
        """Of its connector."""
        return (self.config,)

    @property
    def live(self) -> bool:
        """Whether the run resumes from the live offsets, and moves them: how the connector is doing depends on it."""
        return self.moves and self.replay is None and not self.replay_dead_letters

    @property
    def moves(self) -> bool:
        """Whether the run moves records."""
        return not self.dry_run and self.preview is None and self.upkeep is None

    @property
    def replays(self) -> str | None:
        """What the run moves again: an interval, or dead letters; None: what is new."""
        return "dead letters" if self.replay_dead_letters else str(self.replay) if self.replay else None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)

    @classmethod
    def read(cls, path: Path) -> RunSpec:
        """Read a run spec.

        :param path: an absolute path is a file that the caller has created; a bare name is the copy that Spark has made
            in the working directory of a cluster's driver, and is made readable for its owner only.
        :raises ConfigError: the file is missing, readable by others, or not a run spec.
        """
        return cls.of(run_file_data(path))

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> RunSpec:
        """A run spec from its JSON data. :raises ConfigError: it is not one."""
        try:
            spec = cls(**fields)
            spec = replace(spec, replay=Replay(**fields["replay"])) if spec.replay else spec
            spec = replace(spec, preview=RecordsShown(**fields["preview"])) if spec.preview else spec
            return replace(spec, upkeep=Upkeep(**fields["upkeep"])) if spec.upkeep else spec
        except (ValueError, TypeError) as error:
            raise ConfigError({"--run": [f"it is not a run spec: {error}"]}) from error


def run_file_data(path: Path) -> dict[str, Any]:
    """What a file that `run_spec_file` has written contains.

    :param path: as for `RunSpec.read`.
    :raises ConfigError: the file is missing, readable by others, or not JSON.
    """
    try:
        _check_mode(path)
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it is not a JSON object")
        return data
    except OSError as error:
        raise ConfigError({"--run": [f"cannot read {path}: {error.strerror}"]}) from error
    except ValueError as error:
        raise ConfigError({"--run": [f"{path} is not a run spec: {error}"]}) from error


def _check_mode(path: Path) -> None:
    mode = path.stat().st_mode & 0o777
    if path.is_absolute() and mode & 0o077:
        raise ConfigError({"--run": [f"{path} is open to other users (mode {mode:o}): chmod 600 it"]})
    if mode & 0o022:
        raise ConfigError({"--run": [f"{path} may be written by others (mode {mode:o}): chmod 600 it"]})
    if mode & 0o077:
        try:
            path.chmod(0o600)
        except OSError as error:
            why = f"is open to other users (mode {mode:o}) and cannot be closed to them: {error.strerror}"
            raise ConfigError({"--run": [f"{path} {why}"]}) from error


class JobSpec(Protocol):
    """What a job is to do: one run, or the runs of a group."""

    @property
    def configs(self) -> Sequence[Mapping[str, Any]]:
        """Of its connectors."""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""


@contextlib.contextmanager
def run_spec_file(spec: JobSpec) -> Iterator[Path]:
    """Write what a job is to do to a file that only its owner can read, in a folder that only its owner can enter.

    The folder belongs to this run alone and is removed with its content when the block ends.
    """
    with tempfile.TemporaryDirectory(prefix="kconnect-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, f"{Path(folder).name}.json")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump({**spec.as_dict(), **_plugins(spec)}, out)
        yield path


def _plugins(spec: JobSpec) -> dict[str, list[dict[str, str]]]:
    """The files with plug-ins that the configurations name: the job may run where there are no such files."""
    named = [value for config in spec.configs for key, value in config.items() if key.endswith(_CLASS_KEYS)]
    files = [asdict(file) for file in registry().files_of(name.strip() for name in named if isinstance(name, str))]
    return {PLUGINS: files} if files else {}
