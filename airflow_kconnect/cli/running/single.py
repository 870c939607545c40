"""One run of one connector: read, checked, run and shown."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import typer
from rich.text import Text

from airflow_kconnect.cli.airflow_variables import airflow_variables, with_airflow_login
from airflow_kconnect.cli.connectors.given import given
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import error_event, show
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.run_display import display_of, show_report
from airflow_kconnect.cli.running.job import JobEnd, run_job
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.worker import resolved, resolved_worker, worker_config
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.runs.events import EXIT_INTERNAL, EXIT_OK
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit import statuses
from airflow_kconnect.submit.operations import STARTED, connector_name, not_started_text, target_state
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.submit.spark import spark_version
from airflow_kconnect.submit.spark_needs import needs_of
from airflow_kconnect.submit.statuses import failures_shown, interruptions_shown, show_failure, show_target_state
from airflow_kconnect.worker_config.spark_keys import spark_settings

INTERRUPTED, INTERRUPTED_TEXT = 130, statuses.INTERRUPTED
INTERRUPTED_EVENT: Mapping[str, Any] = {
    "error": KeyboardInterrupt.__name__,
    "message": INTERRUPTED_TEXT,
    "exit_code": INTERRUPTED,
    "errors": None,
}
NO_REPORT = "SparkError"
STARTING_SPARK = "starting Spark"


@dataclass
class RunOutcome:
    """How a run ended.

    :param state: that of a connector that is paused or stopped, and so was not run.
    :param hint: how later runs would start sooner; shown if this one has started Spark.
    """

    exit_code: int
    report: dict[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    state: dict[str, str] | None = None
    hint: str | None = None
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=40))


def run_once(connector: str, options: RunOptions) -> None:
    """Run the connector, show how it went, and exit."""
    console = Console(stderr=options.as_json)
    settings = options.spark_conf
    try:
        outcome = _run(connector, options, settings, console)
    except ConnectError as error:
        outcome = RunOutcome(error.exit_code, error=error_event(error))
    except KeyboardInterrupt:
        outcome = RunOutcome(INTERRUPTED, error=INTERRUPTED_EVENT)
    _present(outcome, console, options.as_json)
    raise typer.Exit(outcome.exit_code)


def _run(connector: str, options: RunOptions, conf: Mapping[str, str], console: Console) -> RunOutcome:
    found = given(connector, worker_config(options.worker, options.bootstrap_servers))
    worker = found.worker
    given_config = {**found.config, **options.own_keys}
    spec = options.spec_of(given_config, worker, found.origin)
    with nullcontext() if options.interval else failures_shown(spec, lambda: resolved_worker(worker)):
        config = with_airflow_login(given_config, worker)
        variables = airflow_variables(config, worker)
        warnings = check_configuration(config, worker, None, variables)
        needs_of(config, spark_version())
    for warning in warnings:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    check_listening(worker)
    replay = options.replay_of(config)
    name = connector_name(config)
    if options.live and (state := _state(name, worker)) != STARTED:
        return RunOutcome(EXIT_OK, state={"connector": name, "state": state, "message": not_started_text(name, state)})
    spec = replace(spec, config=config, replay=replay, variables=variables)
    with interruptions_shown(spec, lambda: resolved_worker(worker)):
        outcome = _submitted(spec, options, {**spark_settings(config), **conf}, console)
    if outcome.error is not None and outcome.error["error"] == NO_REPORT:
        show_failure(spec, outcome.error["message"], lambda: resolved_worker(worker))
    return outcome


def _state(name: str, worker: Mapping[str, str]) -> str:
    with resolved({}, worker) as (_, keys):
        state = target_state(name, keys)
        if state != STARTED:
            show_target_state(name, state, keys)
        return state


def _submitted(spec: RunSpec, options: RunOptions, conf: Mapping[str, str], console: Console) -> RunOutcome:
    outcome = RunOutcome(EXIT_OK)
    with display_of(console, options.verbose) as display:

        def on_event(event: dict[str, Any]) -> None:
            outcome.report = event.get("report", outcome.report)
            if event.get("event") == "error":
                outcome.error = {key: value for key, value in event.items() if key != "event"}
            display.event(event)

        def on_line(line: str) -> None:
            outcome.tail.append(line)
            display.line(line)

        end = run_job(
            spec,
            options,
            conf,
            configs=[spec.config],
            name=f"kconnect {spec.config['name']}",
            on_event=on_event,
            on_line=on_line,
        )
    outcome.exit_code, outcome.hint = end.exit_code, end.hint
    return _judged(outcome, end)


def _judged(outcome: RunOutcome, end: JobEnd) -> RunOutcome:
    """If the job ends without reporting, the error is Spark's: its exit code says nothing about the connector."""
    if outcome.error is None and (end.exit_code != EXIT_OK or outcome.report is None):
        outcome.error = {"error": NO_REPORT, "message": end.text, "exit_code": EXIT_INTERNAL, "errors": None}
        outcome.exit_code = EXIT_INTERNAL
    return outcome


def _present(outcome: RunOutcome, console: Console, as_json: bool) -> None:
    if outcome.error is not None:
        if outcome.report is not None:  # it has moved records, with warnings for which the user wants an error
            show_report(console, outcome.report)
        show(console, outcome.error, outcome.tail)
    elif outcome.state is not None:
        console.print(Text(outcome.state["message"]), soft_wrap=True)
    elif outcome.report is not None:
        show_report(console, outcome.report)
        if outcome.hint and STARTING_SPARK in outcome.report["durations_s"]:
            console.print(Text(outcome.hint, style="dim"), soft_wrap=True)
    if as_json:
        moved = {} if outcome.report is None else {"report": outcome.report}
        typer.echo(json.dumps({"error": outcome.error, **moved} if outcome.error else outcome.state or outcome.report))
