"""`kconnect run`: one run of a connector, as Airflow would do it, without Airflow."""

from __future__ import annotations

import json
import socket
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.airflow_variables import airflow_variables, with_airflow_login
from airflow_kconnect.cli.connectors.arguments import NameOrFile
from airflow_kconnect.cli.connectors.given import Given, given
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import error_event, show
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.run_display import display_of, show_report
from airflow_kconnect.cli.worker import Servers, WorkerFile, resolved, worker_config
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.replay import Replay, check_replay, interval_replay
from airflow_kconnect.connect.run import EXIT_INTERNAL, EXIT_OK, RunSpec, run_spec_file
from airflow_kconnect.connect.validation.spark_keys import spark_settings
from airflow_kconnect.submit.class_archive import class_archive
from airflow_kconnect.submit.direct import (
    by_python,
    direct_command,
    direct_environment,
    needs_no_spark,
    starts_spark_itself,
)
from airflow_kconnect.submit.operations import STARTED, connector_name, not_started_text, target_state
from airflow_kconnect.submit.package_archive import package_for
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.submit.statuses import INTERRUPTED as INTERRUPTED_TEXT
from airflow_kconnect.submit.statuses import failures_shown, interruptions_shown, show_failure, show_target_state
from airflow_kconnect.submit.submit import submit, submit_command, submit_environment

INTERRUPTED = 130
_NO_REPORT = "SparkError"
_STARTING = "starting Spark"
_ARCHIVE = "Spark starts in half the time after `kconnect spark archive`, needed once on this machine (30 s, 190 MB)."


def run(
    connector: NameOrFile,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    conf: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Spark setting; may be repeated.", show_default=False),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="BEGIN/END",
            help="Move an interval of time again, alongside the live offsets: 2026-01-01/2026-01-02T12:00:00Z, the end "
            "exclusive, in UTC unless it names a zone. What was moved by this command before is not moved twice.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="With --replay: move the interval again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be moved.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON line on stdout, everything else on stderr.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the job's whole log.")] = False,
) -> None:
    """Run a connector once: move what is new since its last run, then end.

    Examples: `kconnect run orders.json`, `kconnect run orders --master 'local[4]' --conf spark.driver.memory=4g`

    NAME is a registered connector, whose configuration is in the worker's `config.storage.topic`; a file that exists
    wins over a name. The configuration is checked first, and all its errors are shown. Source connectors continue from
    the offset topic, sink connectors from their consumer group; interrupting a run loses nothing, the next one
    resumes. A connector that is paused or stopped is not run (`kconnect resume`); replays and dry runs are.

    Exit codes: 0 done, or paused; 1 configuration or data are wrong; 2 wrong usage; 3 something outside is unavailable,
    try again; 4 a newer run has taken over; 5 a bug; 130 interrupted.
    """
    if again and replay is None:
        raise typer.BadParameter("is for replays: name the interval with --replay", param_hint="--again")
    options = RunOptions(worker, bootstrap_servers, master, conf or (), as_json=as_json, verbose=verbose,
                         interval=replay, again=again, dry_run=dry_run)  # fmt: skip
    run_once(connector, options)


@dataclass(frozen=True)
class RunOptions:
    """What the command line reports about a run.

    :param interval: of time, to be moved again.
    :param again: also if it was moved before.
    :param dead_letters: a sink reads its dead letters instead of its topics.
    """

    worker: Path | None
    bootstrap_servers: str | None
    master: str
    conf: Sequence[str]
    as_json: bool
    verbose: bool
    interval: str | None = None
    again: bool = False
    dry_run: bool = False
    dead_letters: bool = False

    @property
    def live(self) -> bool:
        """Whether the run resumes from the live offsets, and moves them."""
        return self.interval is None and not self.dry_run and not self.dead_letters


@dataclass
class RunOutcome:
    """How a run ended.

    :param state: that of a connector that is paused or stopped, and so was not run.
    :param hint: how later runs would start sooner; shown if this one has started Spark.
    """

    exit_code: int
    report: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    state: dict[str, str] | None = None
    hint: str | None = None
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=40))


def run_once(connector: str, options: RunOptions) -> None:
    """Run the connector, show how it went, and exit."""
    console = Console(stderr=options.as_json)
    settings = _spark_settings(options.conf)
    try:
        outcome = _run(connector, options, settings, console)
    except ConnectError as error:
        outcome = RunOutcome(error.exit_code, error=error_event(error))
    except KeyboardInterrupt as error:
        event = {"error": type(error).__name__, "message": INTERRUPTED_TEXT, "exit_code": INTERRUPTED, "errors": None}
        outcome = RunOutcome(INTERRUPTED, error=event)
    _present(outcome, console, options.as_json)
    raise typer.Exit(outcome.exit_code)


def _run(connector: str, options: RunOptions, conf: Mapping[str, str], console: Console) -> RunOutcome:
    found = given(connector, worker_config(options.worker, options.bootstrap_servers))
    worker = found.worker
    spec = RunSpec(
        found.config,
        worker,
        run_id=uuid.uuid4().hex[:12],
        replay_dead_letters=options.dead_letters,
        dry_run=options.dry_run,
        origin=_origin(found),
    )
    with nullcontext() if options.interval else failures_shown(spec, lambda: _keys(worker)):
        config = with_airflow_login(found.config, worker)
        variables = airflow_variables(config, worker)
        warnings = check_configuration(config, worker, None, variables)
    for warning in warnings:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    check_listening(worker)
    replay = _replay(config, options)
    name = connector_name(config)
    if options.live and (state := _state(name, worker)) != STARTED:
        return RunOutcome(EXIT_OK, state={"connector": name, "state": state, "message": not_started_text(name, state)})
    spec = replace(spec, config=config, replay=replay, variables=variables)
    with interruptions_shown(spec, lambda: _keys(worker)):
        outcome = _submitted(spec, options, {**spark_settings(config), **conf}, console)
    if outcome.error is not None and outcome.error["error"] == _NO_REPORT:
        show_failure(spec, outcome.error["message"], lambda: _keys(worker))
    return outcome


def _origin(found: Given) -> dict[str, str | int]:
    """Where the run is started, and from which file; of a registered connector there is none."""
    of_file = {} if found.file is None else {"file": str(found.file.absolute())}
    return {**of_file, "host": socket.gethostname()}


def _keys(worker: Mapping[str, str]) -> Mapping[str, Any]:
    check_listening(worker)
    with resolved({}, worker) as (_, keys):
        return keys


def _replay(config: Mapping[str, Any], options: RunOptions) -> Replay | None:
    if options.interval is None:
        return None
    try:
        replay = interval_replay(connector_name(config), options.interval, again=options.again)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--replay") from None
    check_replay(config)
    return replay


def _state(name: str, worker: Mapping[str, str]) -> str:
    with resolved({}, worker) as (_, keys):
        state = target_state(name, keys)
        if state != STARTED:
            show_target_state(name, state, keys)
        return state


def _submitted(spec: RunSpec, options: RunOptions, conf: Mapping[str, str], console: Console) -> RunOutcome:
    outcome = RunOutcome(EXIT_OK)
    direct = needs_no_spark(spec.config, options.master)
    package = package_for(options.master)
    with run_spec_file(spec) as path, package as archive, display_of(console, options.verbose) as display:
        environment = submit_environment(options.master)
        if direct:
            command, environment = direct_command(["--run", str(path)], conf), direct_environment(environment)
        else:
            name = f"kconnect {spec.config['name']}"
            spark = find_spark_submit()
            command = submit_command(spark, path, master=options.master, conf=conf, name=name, package=archive)
            if direct := starts_spark_itself(options.master, None, spark):
                outcome.hint = _hint(spark)
                command, environment = by_python(command, environment, conf)

        def on_event(event: dict[str, Any]) -> None:
            outcome.report = event.get("report", outcome.report)
            if event.get("event") == "error":
                outcome.error = {key: value for key, value in event.items() if key != "event"}
            display.event(event)

        def on_line(line: str) -> None:
            outcome.tail.append(line)
            display.line(line)

        outcome.exit_code = submit(
            command, token=spec.token, environment=environment, on_event=on_event, on_line=on_line
        )
    return _judged(outcome, "the job" if direct else "spark-submit")


def _hint(spark: SparkSubmit) -> str | None:
    return None if spark.pyspark is None or class_archive(spark) else _ARCHIVE


def _judged(outcome: RunOutcome, program: str) -> RunOutcome:
    """If the job ends without reporting, the error is Spark's: its exit code says nothing about the connector."""
    if outcome.error is None and (outcome.exit_code != EXIT_OK or outcome.report is None):
        text = f"{program} ended with exit code {outcome.exit_code} before the job could report"
        outcome.error = {"error": _NO_REPORT, "message": text, "exit_code": EXIT_INTERNAL, "errors": None}
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
        if outcome.hint and _STARTING in outcome.report["durations_s"]:
            console.print(Text(outcome.hint, style="dim"), soft_wrap=True)
    if as_json:
        moved = {} if outcome.report is None else {"report": outcome.report}
        typer.echo(json.dumps({"error": outcome.error, **moved} if outcome.error else outcome.state or outcome.report))


def _spark_settings(pairs: Sequence[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(
                f"{pair!r} is not KEY=VALUE, for example spark.driver.memory=4g", param_hint="--conf"
            )
        settings[key.strip()] = value
    return settings
