"""A group: the runs of several connectors in one job, their order, and how each of them has ended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, named
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_INTERNAL, EXIT_OK, EXIT_RETRIABLE
from airflow_kconnect.runs.spec import RunSpec

AFTER = "kconnect.group.after"
PRIORITY = "kconnect.group.priority"
MAX_PARALLEL = 4
"""How many connectors of a group run at once, unless it is said."""

# The first that occurs is the exit code of a group: what needs a person comes before what a retry may cure.
_BY_WEIGHT = (EXIT_CONFIG_OR_DATA, EXIT_INTERNAL, EXIT_RETRIABLE)
# Of a run spec: what the runs of a group have in common, as a rule.
_SHARED = ("worker", "variables")
_LISTED = re.compile(r"\s*,\s*")


@dataclass(frozen=True)
class GroupSpec:
    """Everything that the job of a group needs to know.

    :param runs: one of each connector, in the order in which they start where nothing else decides.
    :param max_parallel: how many run at once.
    :param token: the prefix of each event of the job, for all of its runs.
    """

    runs: tuple[RunSpec, ...]
    max_parallel: int = MAX_PARALLEL
    token: str = field(default_factory=lambda: RunSpec({}, {}).token, repr=False, compare=False)

    @property
    def names(self) -> list[str]:
        """The connectors, in the order of their runs."""
        return [name_of(run.config) for run in self.runs]

    @property
    def configs(self) -> list[Mapping[str, Any]]:
        """Of its connectors."""
        return [run.config for run in self.runs]

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data, as `of` reads it. The worker that all runs have is there once."""
        runs = [asdict(run) for run in self.runs]
        shared = {name: runs[0][name] for name in _SHARED if runs and all(run[name] == runs[0][name] for run in runs)}
        own = [{name: value for name, value in run.items() if name not in (*shared, "token")} for run in runs]
        return {"runs": own, "shared": shared, "max_parallel": self.max_parallel, "token": self.token}

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> GroupSpec:
        """A group from its JSON data. :raises ConfigError: it is not one."""
        try:
            shared = {**members["shared"], "token": members["token"]}
            runs = tuple(RunSpec.of({**shared, **run}) for run in members["runs"])
            return cls(runs, members["max_parallel"], members["token"])
        except (KeyError, TypeError) as error:
            raise ConfigError({"--run": [f"it is not the run spec of a group: {named(error)}"]}) from error


@dataclass(frozen=True)
class MemberEnd:
    """How the run of one connector of a group has ended.

    :param report: what it has moved, also if it fails because of its warnings; None if it is not known.
    :param error: the job's error event (error: class name, message, exit_code, errors); None: it has succeeded.
    :param state: PAUSED or STOPPED, of a connector that was not run because of it.
    """

    connector: str
    report: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    state: str | None = None

    @property
    def exit_code(self) -> int:
        return EXIT_OK if self.error is None else int(self.error["exit_code"])

    @property
    def retried(self) -> bool:
        """Whether a retry may help."""
        return self.exit_code not in (EXIT_OK, EXIT_CONFIG_OR_DATA)


def exit_code_of(ends: Iterable[MemberEnd]) -> int:
    """The exit code of a group: 0 if each of its runs has succeeded; else 1, 5, 3 or another, whichever of them is the
    first among those of its runs.
    """
    codes = {end.exit_code for end in ends} - {EXIT_OK}
    return next((code for code in _BY_WEIGHT if code in codes), min(codes, default=EXIT_OK))


def lost(connector: str, message: str) -> MemberEnd:
    """The end of a run that was in progress, or had not begun, when its job ended: a retry resumes it."""
    return MemberEnd(connector, error={"error": "RetriableError", "message": message, "exit_code": EXIT_RETRIABLE,
                                       "errors": None})  # fmt: skip


def name_of(config: Mapping[str, Any]) -> str:
    """The name in a configuration; empty if there is none."""
    return str(config.get("name") or "").strip()


def check_group(configs: Sequence[Mapping[str, Any]]) -> None:
    """:raises ConfigError: a connector is there twice or has no name, or the order is impossible."""
    counts = Counter(map(name_of, configs))
    problems = [f"connector {name} is there {count} times" for name, count in counts.items() if name and count > 1]
    if counts[""]:
        problems.append("a connector has no `name`")
    if problems:
        raise ConfigError({"connectors": problems})
    try:
        TopologicalSorter(predecessors(configs)).prepare()
    except CycleError as error:
        circle = " after ".join(error.args[1])
        raise ConfigError({AFTER: [f"the order is impossible: {circle}; remove one of these names"]}) from None


def predecessors(configs: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    """By connector, those of the group that end before it starts.

    These are the sources that write to the topics of a sink, as far as their configurations tell, and those that
    `kconnect.group.after` names. A name that is not in the group is none.
    """
    names = {name_of(config) for config in configs}
    before = {}
    for config in configs:
        named = set(_LISTED.split(str(config.get(AFTER) or "").strip())) & names
        feeding = {name_of(other) for other in configs if _feeds(other, config)}
        before[name_of(config)] = (named | feeding) - {name_of(config)}
    return before


def priority_of(config: Mapping[str, Any]) -> int:
    """The connector's priority, 0 unless it is set; validation has told of a wrong one."""
    text = str(config.get(PRIORITY) or "0").strip()
    return int(text) if re.fullmatch(r"[+-]?\d{1,9}", text) else 0


def _feeds(source: Mapping[str, Any], sink: Mapping[str, Any]) -> bool:
    """Whether a source writes to a topic of a sink, by what configurations tell: a topic, or what its topics begin
    with. Variables, and transformations that rename topics, are not considered.
    """
    if not (sink.get("topics") or sink.get("topics.regex")) or source.get("topics") or source.get("topics.regex"):
        return False
    topic, prefix = str(source.get("topic") or "").strip(), str(source.get("topic.prefix") or "").strip()
    listed = _LISTED.split(str(sink.get("topics") or "").strip())
    pattern = str(sink.get("topics.regex") or "").strip()
    if topic and (topic in listed or (pattern and _matches(pattern, topic))):
        return True
    return bool(prefix) and any(name.startswith(prefix) for name in (*listed, pattern.replace("\\", "")))


def _matches(pattern: str, topic: str) -> bool:
    try:
        return re.fullmatch(pattern, topic) is not None
    except re.error:  # a pattern of Java's alone
        return False
