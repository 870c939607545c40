"""The connectors of a group in an attempt of its task: which of them the job runs, and the ends of the others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.control.kinds import kind
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.worker import Configurations, RegisteredConfigs, TaskWorker
from airflow_kconnect.operators.groups.outcome import masked_end
from airflow_kconnect.operators.intervals import RunMode
from airflow_kconnect.operators.jobs import run_id_of, spec_of
from airflow_kconnect.operators.reports.moved import DEAD_LETTER_TOPIC
from airflow_kconnect.runs.group import MemberEnd, check_group, name_of, predecessors
from airflow_kconnect.runs.replays import check_replay
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.folder import connector_files
from airflow_kconnect.submit.group import checked_group, failed, not_started
from airflow_kconnect.submit.registered import Connector, RegisteredConnector
from airflow_kconnect.submit.statuses import show_failures
from airflow_kconnect.validation.before_variables import worker_without_references

if TYPE_CHECKING:
    from airflow.sdk import Context

log = logging.getLogger(__name__)

CONNECTORS = "connectors"
"""The DAG run's param that names the connectors to run; without it, all of the group."""


def group_params() -> dict[str, Param]:
    """The param of a DAG with a group, besides those of `run_params`."""
    names: dict[str, Any] = {"type": ["null", "array"], "items": {"type": "string"}}
    text = "Run only these connectors of the group. Empty: all."
    return {CONNECTORS: Param(None, title="Connectors", description_md=text, **names)}


@dataclass(frozen=True)
class GivenConnectors:
    """The connectors of a group as they were given, variables not resolved.

    :param configs: by name.
    :param errors: of those without a readable configuration, by what they are called.
    """

    configs: Mapping[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    errors: Mapping[str, ConfigError | DataError] = field(default_factory=dict)

    def only(self, names: Iterable[str] | None) -> GivenConnectors:
        """Those of these names; None, or no name: all. :raises ConfigError: a name is not one of the group's."""
        chosen = set(names or ())
        if not chosen:
            return self
        if unknown := sorted(chosen - self.configs.keys() - self.errors.keys()):
            raise ConfigError(
                {f"params.{CONNECTORS}": [f"{', '.join(unknown)}: there is no such connector in the group"]}
            )
        return GivenConnectors(
            {name: config for name, config in self.configs.items() if name in chosen},
            {name: error for name, error in self.errors.items() if name in chosen},
        )


def given_connectors(
    connectors: Sequence[Connector] | None, files: str | Path | None, folder: Path | None, worker: Configurations
) -> GivenConnectors:
    """Read what an operator was given; the config topic is read once.

    :param connectors: as for the operators of single connectors. :param files: else a folder of files.
    :param folder: what paths are relative to. :param worker: of the worker alone.
    :raises ConfigError: a connector is there twice or has no name, or the order is impossible; there are none.
    :raises RetriableError: the broker is unavailable.
    """
    if connectors is None:
        connectors = list(connector_files((folder or Path()) / str(files)))
    registered = RegisteredConfigs(worker)
    configs: list[dict[str, Any]] = []
    wrong: dict[int, ConfigError | DataError] = {}
    for number, connector in enumerate(connectors, 1):
        try:
            configs.append(registered.config(connector, folder))
        except (ConfigError, DataError) as error:
            wrong[number] = error
    errors: dict[str, ConfigError | DataError] = {}
    for number, problem in wrong.items():
        label = _label(connectors[number - 1], number)
        taken = label in errors or label in map(name_of, configs)
        errors[f"{label} (number {number})" if taken else label] = problem
    if not configs and not errors:
        raise ConfigError({"connectors" if files is None else "folder": ["has no connectors"]})
    check_group(configs)
    return GivenConnectors({name_of(config): config for config in configs}, errors)


def _label(connector: Connector, number: int) -> str:
    """What a connector without a configuration is called."""
    if isinstance(connector, RegisteredConnector):
        return connector.name
    if isinstance(connector, str | Path) and not str(connector).lstrip().startswith("{"):
        return Path(connector).name
    return f"number {number}"


@dataclass
class Attempt:
    """What an attempt has found out before its job.

    :param runs: of the connectors that the job is to run.
    :param ends: of the others: those with errors, those that are paused, those that an earlier attempt has run.
    :param conf: Spark's settings.
    """

    worker: Configurations
    runs: list[RunSpec] = field(default_factory=list)
    ends: dict[str, MemberEnd] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)

    def fail(self, errors: Mapping[str, ConfigError | DataError]) -> None:
        """Leave out connectors that cannot be run; their statuses follow."""
        specs = {name_of(run.config): run for run in self.runs}
        shown = [(specs[name], error) for name, error in errors.items() if name in specs]
        show_failures(shown, self.worker.resolved_worker, masked)
        self.leave_out({name: masked_end(failed(name, error)) for name, error in errors.items()})

    def leave_out(self, ends: Mapping[str, MemberEnd]) -> None:
        """These connectors are not run."""
        self.ends |= ends
        self.runs = [run for run in self.runs if name_of(run.config) not in ends]


def attempt_of(
    given: GivenConnectors,
    worker: TaskWorker,
    mode: RunMode,
    context: Context,
    *,
    kept: Mapping[str, MemberEnd],
    conf: Mapping[str, Any],
    spark_version: str,
) -> Attempt:
    """Check all connectors: a wrong one does not affect the others.

    :param kept: the ends of connectors in earlier attempts, which are not run again.
    :param conf: Spark's settings of the group itself. :param spark_version: see `checked_group`.
    :raises ConfigError: none of them can be run in this mode.
    """
    attempt = Attempt(worker.configurations({}))
    before = {name: end for name, end in kept.items() if name in given.configs or name in given.errors}
    if not mode.dead_letters:
        _leave_sinks(before, given)
    errors: dict[str, ConfigError | DataError] = {n: error for n, error in given.errors.items() if n not in before}
    for name, config in given.configs.items():
        if name in before:
            continue
        try:
            run = spec_of(worker.configurations(config), None, mode, context, run_id_of(context))
            attempt.runs.append(run)
            if mode.replay is not None:
                check_replay(config)
        except ConfigError as error:
            errors[name] = error
    attempt.leave_out(before)
    if mode.dead_letters:
        attempt.runs = _with_dead_letters(attempt.runs)
    checked = checked_group([run for run in attempt.runs if name_of(run.config) not in errors], conf, spark_version)
    attempt.fail({**errors, **checked.errors})
    attempt.conf = checked.conf
    for name, warnings in checked.warnings.items():
        for warning in warnings:
            log.warning("connector %s: %s", name, warning)
    return attempt


def _leave_sinks(ends: dict[str, MemberEnd], given: GivenConnectors) -> None:
    """Leave out sinks that have succeeded and are after a connector without an end: it may bring them new records."""
    before = predecessors(list(given.configs.values()))
    for name in TopologicalSorter(before).static_order():
        report = ends[name].report if name in ends and ends[name].error is None else None
        if report is not None and report["kind"] == "sink" and not before[name] <= ends.keys():
            del ends[name]


def leave_out_paused(attempt: Attempt, *, driver_is_here: bool) -> None:
    """Leave out connectors that are paused or stopped, before Spark starts, of runs that resume from the live offsets.

    :param driver_is_here: see `skip_unless_started`.
    :raises ConfigError, RetriableError: Kafka cannot be queried; the job could not query it either.
    """
    names = [name_of(run.config) for run in attempt.runs if run.live]
    if not names:
        return
    try:
        states = not_started(names, attempt.worker.resolved_worker())
    except (ConfigError, RetriableError) as error:
        if driver_is_here:
            raise
        log.warning("Cannot check from here which connectors are paused: %s", error)
        return
    for name, state in states.items():
        log.info("Connector %s is %s: it is not run. Resume it with `kconnect resume %s`", name, state.lower(), name)
    attempt.leave_out({name: MemberEnd(name, state=state) for name, state in states.items()})


def with_written(runs: Sequence[RunSpec], ends: Iterable[MemberEnd]) -> list[RunSpec]:
    """Replays, with where sources of the group have written what they replayed in an earlier attempt."""
    reports = [end.report for end in ends if end.report is not None and end.report["kind"] == "source"]

    def of(run: RunSpec) -> RunSpec:
        if run.replay is None:
            return run
        found = [entry for each in reports if each["replay"] == str(run.replay) for entry in each["ranges"]]
        return replace(run, replay=replace(run.replay, written=[*run.replay.written, *found]))

    return [of(run) for run in runs]


def kind_of(config: Mapping[str, Any], worker: Mapping[str, Any]) -> str:
    """`source`, `sink` or `unknown`. :param worker: the worker's keys, variables not resolved."""
    return kind(texts_of(config)[0], worker_without_references(worker))


def _with_dead_letters(runs: Sequence[RunSpec]) -> list[RunSpec]:
    """The sinks that keep dead letters. :raises ConfigError: there are none."""
    found = [run for run in runs if run.config.get(DEAD_LETTER_TOPIC) and kind_of(run.config, run.worker) == "sink"]
    if not found:
        text = f"no connector of the group has dead letters: that are sinks with `{DEAD_LETTER_TOPIC}`"
        raise ConfigError({"params.mode": [text]})
    return found
