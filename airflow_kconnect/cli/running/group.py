"""One run of each of many connectors, as one job: read, checked, run and shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.text import Text

from airflow_kconnect.cli.airflow_variables import airflow_variables, with_airflow_login
from airflow_kconnect.cli.connectors.arguments import folder_files
from airflow_kconnect.cli.connectors.given import many_given
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import error_event, show
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.running.group_ends import ends_json, show_ends, show_warnings
from airflow_kconnect.cli.running.group_job import GroupJob, GroupOutcome
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.running.single import INTERRUPTED, INTERRUPTED_EVENT, INTERRUPTED_TEXT, STARTING_SPARK
from airflow_kconnect.cli.worker import resolved, resolved_worker, worker_config
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.runs.group import GroupSpec, MemberEnd, check_group, exit_code_of, name_of
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.group import checked_group, failed, not_started
from airflow_kconnect.submit.operations import not_started_text
from airflow_kconnect.submit.spark import spark_version
from airflow_kconnect.submit.statuses import show_failures


@dataclass(frozen=True)
class Members:
    """Which connectors a command means.

    :param connectors: NAME|FILE. :param folder: of files. :param group: of registered connectors.
    :param max_parallel: how many run at once.
    """

    connectors: Sequence[str]
    folder: Path | None
    group: str | None
    max_parallel: int


def run_many(members: Members, options: RunOptions) -> None:
    """Run the connectors, show how it went, and exit."""
    console = Console(stderr=options.as_json)
    conf = options.spark_conf
    try:
        outcome = _run(members, options, conf, console)
    except (ConnectError, KeyboardInterrupt) as error:
        event = error_event(error) if isinstance(error, ConnectError) else INTERRUPTED_EVENT
        show(console, event)
        if options.as_json:
            typer.echo(json.dumps({"error": event}))
        raise typer.Exit(event["exit_code"]) from error
    ends = outcome.in_order()
    show_ends(console, ends, outcome.tail)
    if outcome.hint and any(STARTING_SPARK in (end.report or {}).get("durations_s", ()) for end in ends):
        console.print(Text(outcome.hint, style="dim"), soft_wrap=True)
    if outcome.exit_code == INTERRUPTED:
        console.print(Text(INTERRUPTED_TEXT, style="bold"), soft_wrap=True)
    if options.as_json:
        typer.echo(json.dumps(ends_json(ends, outcome.exit_code)))
    raise typer.Exit(outcome.exit_code)


def _run(members: Members, options: RunOptions, conf: Mapping[str, str], console: Console) -> GroupOutcome:
    worker = worker_config(options.worker, options.bootstrap_servers)
    many = many_given([*members.connectors, *folder_files(members.folder)], worker, members.group)
    _check_usage([each.config for each in many.found])
    names = [name_of(each.config) for each in many.found]
    unread = {f"{label} (not read)" if label in names else label: error for label, error in many.errors.items()}
    outcome = GroupOutcome([*unread, *names])
    outcome.add(failed(label, error) for label, error in unread.items())
    specs = [options.spec_of(each.config, each.worker, each.origin) for each in many.found]
    runs, settings = _checked(specs, options, conf, outcome, console)
    if runs and options.live:
        runs = _started(runs, worker, outcome, console)
    if runs:
        check_listening(worker)
        GroupJob(GroupSpec(tuple(runs), members.max_parallel), outcome).run(options, settings, console)
    outcome.exit_code = outcome.exit_code or exit_code_of(outcome.ends.values())
    return outcome


def _check_usage(configs: Sequence[Mapping[str, object]]) -> None:
    """:raises typer.BadParameter: these connectors cannot be one group."""
    try:
        check_group(configs)
    except ConfigError as error:
        raise typer.BadParameter("; ".join(text for texts in error.errors.values() for text in texts)) from None


def _checked(
    specs: Sequence[RunSpec], options: RunOptions, conf: Mapping[str, str], outcome: GroupOutcome, console: Console
) -> tuple[list[RunSpec], Mapping[str, str]]:
    """The runs of those whose configuration is right, and Spark's settings for their job."""
    wrong: list[tuple[RunSpec, ConfigError]] = []
    complete: list[RunSpec] = []
    for spec in specs:
        try:
            complete.append(_with_variables(spec))
        except ConfigError as error:
            wrong.append((spec, error))
    checked = checked_group(complete, conf, spark_version())
    wrong += [(spec, checked.errors[name]) for spec in complete if (name := name_of(spec.config)) in checked.errors]
    runs = []
    for run in checked.runs:
        try:
            runs.append(replace(run, replay=options.replay_of(run.config)))
        except ConfigError as error:
            outcome.add([failed(name_of(run.config), error)])
    if wrong:
        worker = wrong[0][0].worker
        outcome.add(failed(name_of(spec.config), error) for spec, error in wrong)
        if options.interval is None:
            show_failures(wrong, lambda: resolved_worker(worker))
    show_warnings(console, ((name, "Warning: ", text) for name, texts in checked.warnings.items() for text in texts))
    return runs, checked.conf


def _with_variables(spec: RunSpec) -> RunSpec:
    """With what Airflow knows, where it is. :raises ConfigError: it does not know all of it."""
    config = with_airflow_login(spec.config, spec.worker)
    return replace(spec, config=config, variables=airflow_variables(config, spec.worker))


def _started(
    runs: Sequence[RunSpec], worker: Mapping[str, str], outcome: GroupOutcome, console: Console
) -> list[RunSpec]:
    """Those that are not paused or stopped."""
    check_listening(worker)
    with resolved({}, worker) as (_, keys):
        states = not_started([name_of(run.config) for run in runs], keys)
    for name, state in states.items():
        outcome.add([MemberEnd(name, state=state)])
        console.print(Text(not_started_text(name, state)), soft_wrap=True)
    return [run for run in runs if name_of(run.config) not in states]
