"""The input and output of a job: the run spec (a 0600 file), events on its output, the report.

Shared by the job, the operators and the command line; depends on neither Airflow nor Spark.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.plugins import registry
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connect.run_warnings import RunWarning, kind_of
from airflow_kconnect.connect.upkeep import Upkeep

EVENT_PREFIX = "KCONNECT "
SUBMITTER = "KCONNECT_SUBMITTER_PID"
"""Environment variable: the process that waits for spark-submit, without which the job must end."""
SPARK_OPTIONS = "KCONNECT_SPARK_OPTIONS"
"""Environment variable: the options of spark-submit, a JSON list, for a job that starts Spark itself."""
UPKEEP = "upkeep"
PLUGINS = "plugins"
"""Of the data of a job: the files of plug-ins that it needs."""
_CLASS_KEYS = ("connector.class", ".type")
EXIT_OK, EXIT_CONFIG_OR_DATA, EXIT_USAGE, EXIT_RETRIABLE, EXIT_FENCED, EXIT_INTERNAL = range(6)


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


@dataclass
class RunReport:
    """The result of a run; small, without secrets: it goes to XCom, to the log and to ``--json``.

    :param kind: ``source`` or ``sink``; ``upkeep`` if the tables of a sink were looked after: then `notes` says in
        ``upkeep`` what was found and done, by table.
    :param guarantee: ``exactly_once`` or ``at_least_once``.
    :param records: read, written, filtered, dead_lettered, and already_done (found committed by an earlier attempt).
    :param topics: source: those that received records, including from an attempt that this run resumed; sink: those
        that it reads.
    :param offsets: source: list of {partition, offset}; sink: list of {topic, partition, offset}; committed ones.
    :param complete: see `connect.run_end`. :param incomplete: why it is not complete: values of `run_end.Left`.
    :param durations_s: seconds by phase, and ``total``.
    :param replay: the interval that was moved again, ``begin/end``; None if the run resumed from the live offsets.
    :param warning_kinds: the kind of each warning, in their order: values of `run_warnings.Kind`.
    :param ranges: of a source's replay: where its records are, a list of {topic, partition, start, end}, the end
        exclusive. Records that others wrote at the same time may lie between them.
    :param lag: of a sink: by topic, at the end of the run; `notes` has what open transactions hold back of it as
        ``blocked``, by topic-partition.
    :param lag_max: the same for the topic-partition with the largest lag; None for a source or if not known.
    """

    connector: str
    kind: str
    connector_class: str
    run_id: str
    guarantee: str = "exactly_once"
    records: dict[str, int] = field(default_factory=dict)
    topics: list[str] = field(default_factory=list)
    offsets: list[dict[str, Any]] = field(default_factory=list)
    splits: int = 0
    resumed_plan: bool = False
    complete: bool = True
    incomplete: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    warning_kinds: list[str] = field(default_factory=list)
    durations_s: dict[str, float] = field(default_factory=dict)
    replay: str | None = None
    ranges: list[dict[str, Any]] = field(default_factory=list)
    lag: dict[str, int] = field(default_factory=dict)
    lag_max: int | None = None

    def __post_init__(self) -> None:
        self.complete = self.complete and not self.incomplete
        if len(self.warning_kinds) != len(self.warnings):
            self.warning_kinds = [kind_of(warning) for warning in self.warnings]

    def warn(self, warning: RunWarning) -> None:
        """Add a warning."""
        self.warnings.append(warning)
        self.warning_kinds.append(warning.kind)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> RunReport:
        """The report of a job, possibly of a later version. :raises TypeError: a member is missing."""
        return cls(**{of.name: members[of.name] for of in fields(cls) if of.name in members})

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)

    def summary(self) -> str:
        """A one-line summary for display."""
        written, total = self.records.get("written", 0), self.durations_s.get("total", 0.0)
        if self.kind == UPKEEP:
            return f"{self.connector}: upkeep of {len(self.notes.get(UPKEEP, {}))} tables in {total:.1f} s"
        records = "1 record" if written == 1 else f"{written:,} records"
        why = f": {', '.join(self.incomplete)}" if self.incomplete else ""
        state = "" if self.complete else f", not complete{why}"
        state += f", replay of {self.replay}" if self.replay else ""
        return f"{self.connector}: {records} written in {total:.1f} s ({self.guarantee}{state})"


def event_line(event: str, *, token: str | None = None, **facts: Any) -> str:
    """A line that the job prints for the process that started it.

    :param token: that of the run spec. A line without one is meant for people: readers do not treat it as an event.

    Events: ``phase`` (name, text for display, step, steps), ``spark_ui`` (url), ``progress`` (records, rate,
    tasks_done, tasks, elapsed_s, expected or null), ``report`` (report: `RunReport.as_dict`), ``preview`` (answer: see
    `runtime.source.previewing`), ``error`` (error: class name, message, exit_code, errors: key -> messages for
    configuration errors). Events of a group's runs have ``connector``.
    """
    text = json.dumps({"event": event, **facts}, separators=(",", ":"))
    return f"{EVENT_PREFIX}{token} {text}" if token else EVENT_PREFIX + text


def parse_event(line: str, token: str | None) -> dict[str, Any] | None:
    """The event in a line of a job's output, or None if the line is something else, or an event with missing members.

    :param token: that of the run spec; without it there are no events.
    """
    prefix = f"{EVENT_PREFIX}{token} "
    if not token or not line.startswith(prefix):
        return None
    try:
        event = json.loads(line[len(prefix) :])
        if not isinstance(event, dict) or not _is_whole(event):
            return None
        describe_event(event)  # an event that cannot be described does not count
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return event


def printable(line: str) -> str:
    """A line of a job's output without anything that could move a terminal's cursor or look like another line."""
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", line)


def _is_whole(event: Mapping[str, Any]) -> bool:
    """Whether an event has the members that its readers use; unknown events of a later version pass."""
    members = _MEMBERS.get(event["event"], {})
    if not all(isinstance(event[name], kind) for name, kind in members.items()):
        return False
    return event["event"] != "spark_ui" or _WEB_ADDRESS.match(event["url"]) is not None


def describe_event(event: Mapping[str, Any]) -> str:
    """An event as a line for a log."""
    match event.get("event"):
        case "phase":
            return _describe_phase(event)
        case "spark_ui":
            return f"Spark UI: {event['url']}"
        case "progress":
            return _describe_progress(event)
        case "report":
            return RunReport.of(event["report"]).summary()
        case "preview":
            return f"{len(event['answer']['records'])} records"
        case "error":
            return f"{event['error']}: {event['message']}"
        case other:
            return f"{other}: {json.dumps({k: v for k, v in event.items() if k != 'event'})}"


def _describe_phase(event: Mapping[str, Any]) -> str:
    text = str(event.get("text", event["name"]))
    return f"[{event['step']}/{event['steps']}] {text}" if "step" in event else text


_MEMBERS: Mapping[str, Mapping[str, Any]] = {
    "phase": {"name": str},
    "spark_ui": {"url": str},
    "progress": {"records": int, "tasks_done": int, "tasks": int},
    "report": {"report": dict},
    "preview": {"answer": dict},
    "error": {"error": str, "message": str, "exit_code": int},
}
_WEB_ADDRESS = re.compile(r"https?://\S+\Z")
# Control characters except the tab, line separators, marks that change the text direction, unpaired surrogates.
UNPRINTABLE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _describe_progress(event: Mapping[str, Any]) -> str:
    expected = event.get("expected")
    of = f" of {expected:,}" if expected else ""
    return (
        f"{event['records']:,}{of} records, {event['rate']:,.0f}/s, "
        f"{event['tasks_done']}/{event['tasks']} splits done, {event['elapsed_s']:.0f} s"
    )
