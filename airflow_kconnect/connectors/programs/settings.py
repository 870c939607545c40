"""The keys that connectors of programs share, and rules about them that need no program."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type, ValidString
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.json_objects import object_problem, with_prefix
from airflow_kconnect.connectors.programs.environments import package_of, requirement_problem
from airflow_kconnect.connectors.programs.json_types import Rows, rows_of, schemaless
from airflow_kconnect.validation.connector_keys import KCONNECT
from airflow_kconnect.variables.secret_keys import is_secret_key

PREFIX = "topic.prefix"
KNOWN_OF_TASK, CATALOG_OF_TASK = "program.task.known", "program.task.catalog"
"""What the driver has found out: in the configurations of tasks only."""
DISCOVER, NONE = "discover", "none"
DECLARED, NO_SCHEMAS = "declared", "none"
_IDLE_MS = 1_800_000
_NO_TOPIC = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class Keys:
    """The names of the keys of a protocol.

    :param of: which all of them begin with. :param kind: what its programs are called, such as `tap`.
    """

    of: str
    kind: str

    @property
    def package(self) -> str:
        return f"{self.of}.{self.kind}"

    @property
    def requirements(self) -> str:
        return f"{self.of}.requirements"

    @property
    def executable(self) -> str:
        return f"{self.of}.executable"

    @property
    def command(self) -> str:
        return f"{self.of}.command"

    @property
    def config(self) -> str:
        return f"{self.of}.config."

    @property
    def config_file(self) -> str:
        return f"{self.of}.config.file"

    @property
    def streams(self) -> str:
        return f"{self.of}.streams"

    @property
    def catalog(self) -> str:
        return f"{self.of}.catalog"

    @property
    def hints(self) -> str:
        return f"{self.of}.hints."

    @property
    def resume_after(self) -> str:
        return f"{self.of}.resume.after"

    @property
    def schemas(self) -> str:
        return f"{self.of}.schemas"

    @property
    def idle(self) -> str:
        return f"{self.of}.idle.timeout.ms"


def program_config(keys: Keys, example: str, allowed: str, catalog: str, *, schemas: str = DECLARED) -> ConfigDef:
    """The keys that are known by name; there are also those of the program's configuration, and hints.

    :param example: of a requirement. :param allowed: the worker's key. :param catalog: the text of that key.
    :param schemas: whether records have schemas unless the user says so.
    """
    kind = keys.kind
    return (
        ConfigDef()
        .define(keys.package, Type.STRING, None, Importance.HIGH,
                f"The package of the {kind}, as pip writes it: best with a version. It is installed into an "
                "environment of its own below the cache folder, where the job runs, when it is used for the first "
                f"time. It must be allowed by the worker's `{allowed}`.", group=KCONNECT, example=example)
        .define(keys.requirements, Type.LIST, [], Importance.LOW,
                f"Other packages that the environment of the {kind} needs, such as a driver or another version of "
                "a library.", group=KCONNECT)
        .define(keys.executable, Type.STRING, None, Importance.LOW,
                f"Which program of the package is the {kind}; default: the one with the name of the package, or its "
                "only one.", group=KCONNECT)
        .define(keys.command, Type.STRING, None, Importance.MEDIUM,
                f"In place of a package: the absolute path of a {kind} that is installed where the job runs. It must "
                f"be allowed by the worker's `{allowed}`.", group=KCONNECT)
        .define(keys.config_file, Type.STRING, None, Importance.MEDIUM,
                f"The absolute path of a file with the configuration of the {kind} as JSON, where the job runs. Each "
                f"`{keys.config}<name>` replaces a member of it.", group=KCONNECT)
        .define(keys.streams, Type.LIST, ["*"], Importance.HIGH,
                "The streams to read: names, or patterns with `*` and `?`; with `!` in front, those to leave out.",
                group=KCONNECT)
        .define(PREFIX, Type.STRING, "", Importance.HIGH,
                "The records of a stream go to the topic with this before the name of the stream, in which characters "
                "that no topic may have become `_`.")
        .define(keys.catalog, Type.STRING, DISCOVER, Importance.LOW, catalog, group=KCONNECT)
        .define(keys.resume_after, Type.STRING, "auto", Importance.MEDIUM,
                "After what a run that was interrupted can be resumed, and so what a transaction holds at least: "
                f"`state`: what the {kind} has written up to a state; `run`: all that it writes in a run; `auto`: as "
                "`state`, without states that say nothing new, or say themselves that they cannot be resumed from.",
                group=KCONNECT, validator=ValidString.in_("auto", "state", "run"))
        .define(keys.schemas, Type.STRING, schemas, Importance.MEDIUM,
                f"`declared`: records have the schemas that the {kind} declares; `none`: all records are JSON without "
                "a schema.", group=KCONNECT, validator=ValidString.in_(DECLARED, NO_SCHEMAS))
        .define(keys.idle, Type.LONG, _IDLE_MS, Importance.LOW,
                f"A {kind} that has written nothing for so long is ended, and the run fails, to be tried again.",
                group=KCONNECT, validator=Range.at_least(1000))
    )  # fmt: skip


@dataclass(frozen=True)
class ProgramSettings:
    """A configuration, parsed.

    :param requirements: of the package, and others; empty with a command. :param streams: patterns.
    :param catalog: DISCOVER, NONE, a path, or JSON. :param given: the program's configuration by keys, as text.
    :param hints: of streams, by their names. :param checks: whether the program is to test its connection first.
    """

    keys: Keys
    requirements: tuple[str, ...]
    executable: str | None
    command: str | None
    streams: tuple[str, ...]
    topic_prefix: str
    catalog: str
    resume_after: str
    schemas: str
    idle_s: float
    config_file: str | None
    given: Mapping[str, str] = field(repr=False)
    hints: Mapping[str, Mapping[str, Any]]
    checks: bool = False

    @classmethod
    def of(cls, keys: Keys, config: ConfigDef, props: Mapping[str, str]) -> ProgramSettings:
        values = config.parse(props)
        package = values[keys.package]
        return cls(
            keys=keys,
            requirements=(package.strip(), *values[keys.requirements]) if package else (),
            executable=values[keys.executable],
            command=values[keys.command],
            streams=tuple(values[keys.streams]),
            topic_prefix=values[PREFIX],
            catalog=values[keys.catalog].strip(),
            resume_after=values[keys.resume_after],
            schemas=values[keys.schemas],
            idle_s=values[keys.idle] / 1000,
            config_file=values[keys.config_file],
            given=_given(keys, props),
            hints={name: json.loads(text) for name, text in with_prefix(keys.hints, props).items()},
        )

    @cached_property
    def name(self) -> str:
        """What the program is called in offsets, logs and errors."""
        return package_of(self.requirements[0]) if self.requirements else Path(self.command or "").name

    def program_config(self) -> dict[str, Any]:
        """The configuration of the program. :raises ConfigError: its file cannot be read."""
        config = {} if self.config_file is None else json_file(self.config_file, self.keys.config_file)
        return config | {name: _value(name, text) for name, text in self.given.items()}

    def wants(self, *names: str) -> bool:
        """Whether a stream is to be read. :param names: those that it has."""
        wanted = [each for each in self.streams if not each.startswith("!")]
        unwanted = [each[1:] for each in self.streams if each.startswith("!")]
        return _match(names, wanted or ["*"]) and not _match(names, unwanted)

    def rows(self, stream: str, schema: Mapping[str, Any], keys: Sequence[str]) -> Rows:
        """The rows of a stream. :param schema: JSON Schema."""
        return rows_of(stream, schema, keys) if self.schemas == DECLARED else schemaless(stream, keys)


def _match(names: Iterable[str], patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def refuse_unknown_streams(settings: ProgramSettings, streams: Mapping[str, Collection[str]]) -> None:
    """:param streams: those that a program has: the names of each, by what it is called in errors.
    :raises ConfigError: none of them is wanted, or a hint is about another one.
    """
    has = ", ".join(sorted(streams)) or "none"
    problems = {}
    if not any(settings.wants(*names) for names in streams.values()):
        problems[settings.keys.streams] = [f"no stream has such a name; {settings.name} has {has}"]
    for name in settings.hints:
        if not any(name in names for names in streams.values()):
            problems[f"{settings.keys.hints}{name}"] = [f"{settings.name} has no such stream; it has {has}"]
    if problems:
        raise ConfigError(problems)


def refuse_shared_topics(settings: ProgramSettings, streams: Iterable[str]) -> None:
    """:param streams: those that are read. :raises ConfigError: two of them would go to one topic."""
    names: dict[str, str] = {}
    for stream in streams:
        topic = topic_of(settings.topic_prefix, stream)
        if (other := names.setdefault(topic, stream)) != stream:
            text = (
                f"streams `{other}` and `{stream}` would both go to topic {topic}: leave one of them out, and read it"
            )
            raise ConfigError({settings.keys.streams: [f"{text} by another connector, with another `{PREFIX}`"]})


def given_catalog(settings: ProgramSettings) -> dict[str, Any]:
    """The catalog that the configuration has as JSON, or names the file of. :raises ConfigError: there is none."""
    text = settings.catalog
    found: dict[str, Any] = json.loads(text) if text.startswith("{") else json_file(text, settings.keys.catalog)
    return found


def json_file(path: str, key: str) -> dict[str, Any]:
    """The object in a file. :raises ConfigError: there is none."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigError({key: [f"the file cannot be read here: {error}"]}) from error
    if problem := object_problem(text):
        raise ConfigError({key: [f"the file {problem}"]})
    found: dict[str, Any] = json.loads(text)
    return found


def state_problems(whose: object, offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that is to be committed. It is a state, as JSON in a text."""
    state, others = offset.get("state"), sorted(set(offset) - {"state"})
    problem = object_problem(state) if isinstance(state, str) else "is missing, or not a text"
    if problem is None and others:
        problem = f"is not all: an offset has nothing else, but `{others[0]}`"
    return [] if problem is None else [f"`state` of {whose}: {problem}"]


def topic_of(prefix: str, stream: str) -> str:
    """The topic of a stream."""
    return f"{prefix}{_NO_TOPIC.sub('_', stream)}"


def problems_of(keys: Keys, known_hints: Sequence[str], props: Mapping[str, str]) -> dict[str, list[str]]:
    """What is wrong with a configuration: key -> messages."""
    problems: dict[str, list[str]] = {}
    package, command = (props.get(keys.package) or "").strip(), (props.get(keys.command) or "").strip()
    if bool(package) == bool(command):
        problems[keys.package] = [f"exactly one of {keys.package} and {keys.command} must be set"]
    elif command and not command.startswith("/"):
        problems[keys.command] = [f"`{command}` is not an absolute path"]
    for key, requirements in ((keys.package, [package] if package else []), (keys.requirements, _others(keys, props))):
        if found := [text for each in requirements if (text := requirement_problem(each))]:
            problems.setdefault(key, []).extend(found)
    executable = (props.get(keys.executable) or "").strip()
    if "/" in executable:  # the worker has allowed a package, and no other file
        problems[keys.executable] = [f"`{executable}` is a path: name a program of the package"]
    file = (props.get(keys.config_file) or "").strip()
    if file and not file.startswith("/"):
        problems[keys.config_file] = [f"`{file}` is not the absolute path of a file"]
    if problem := _catalog_problem((props.get(keys.catalog) or DISCOVER).strip()):
        problems[keys.catalog] = [problem]
    for name, text in with_prefix(keys.hints, props).items():
        if problem := _hints_problem(text, known_hints):
            problems[f"{keys.hints}{name}"] = [problem]
    return problems


def _catalog_problem(text: str) -> str | None:
    if text.startswith("{"):
        return object_problem(text)
    known = text in (DISCOVER, NONE) or text.startswith("/")
    return None if known else f"is neither `{DISCOVER}`, `{NONE}`, JSON, nor the absolute path of a file"


def _hints_problem(text: str, known: Sequence[str]) -> str | None:
    if problem := object_problem(text):
        return problem
    unknown = sorted(set(json.loads(text)) - set(known))
    return f"does not know {', '.join(unknown)}, only {', '.join(known)}" if unknown else None


def forbidden(keys: Keys, props: Mapping[str, str], allowed: Sequence[str], key: str) -> dict[str, list[str]]:
    """What is wrong with the programs that a connector names: key -> messages.

    :param allowed: the value of the worker's key, and :param key: its name.
    """
    if "*" in allowed:
        return {}
    problems: dict[str, list[str]] = {}
    package, command = (props.get(keys.package) or "").strip(), (props.get(keys.command) or "").strip()
    for named, requirements in ((keys.package, [package]), (keys.requirements, _others(keys, props))):
        wanted = [each for each in requirements if each and requirement_problem(each) is None]
        if found := [text for each in wanted if (text := _not_allowed(each, allowed, key))]:
            problems[named] = found
    if command and command not in allowed:
        problems[keys.command] = [f"`{command}` is not allowed: the worker's `{key}` does not name it"]
    return problems


def _not_allowed(requirement: str, allowed: Sequence[str], key: str) -> str | None:
    """A name allows its releases of any version, but not what is fetched from an address that the connector names."""
    name = package_of(requirement)
    if requirement in allowed or ("@" not in requirement and name in allowed):
        return None
    wanted = requirement if "@" in requirement else name
    return f"`{requirement}` is not allowed: a package is code, and the worker's `{key}` does not name it: add {wanted}"


def _others(keys: Keys, props: Mapping[str, str]) -> list[str]:
    return [each.strip() for each in (props.get(keys.requirements) or "").split(",") if each.strip()]


def _given(keys: Keys, props: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in with_prefix(keys.config, props).items() if name != "file"}


def _value(name: str, text: str) -> Any:
    """A text that is JSON is read as such. A secret of digits is still a text."""
    if is_secret_key(name) and not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
