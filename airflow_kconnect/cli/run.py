"""`kconnect run`: one run of a connector, as Airflow would do it, without Airflow."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from airflow_kconnect.cli.broker import default_data
from airflow_kconnect.cli.run_display import display_of, show_error, show_report
from airflow_kconnect.connect import properties
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.run import EXIT_INTERNAL, EXIT_OK, RunSpec, run_spec_file
from airflow_kconnect.local.preflight import check_configuration, connector_config
from airflow_kconnect.local.spark import find_spark_submit
from airflow_kconnect.local.submit import submit, submit_command, submit_environment

INTERRUPTED = 130


def run(
    connector: Annotated[
        Path,
        typer.Argument(
            metavar="CONNECTOR_FILE",
            help="The connector: Connect's JSON (with or without the outer `name` and `config`), or .properties.",
            show_default=False,
        ),
    ],
    worker: Annotated[
        Path | None,
        typer.Option(
            help="Worker file, as connect-distributed takes it. Default: that of the broker that "
            "`kconnect broker start` has started.",
            show_default=False,
        ),
    ] = None,
    bootstrap_servers: Annotated[
        str | None, typer.Option(help="Kafka brokers, host:port; wins over the worker file.", show_default=False)
    ] = None,
    master: Annotated[str, typer.Option(help="Spark master.")] = "local[*]",
    conf: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Spark setting; may be repeated.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON line on stdout, everything else on stderr.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the job's whole log.")] = False,
) -> None:
    """Run a connector once: move what is new since its last run, then end.

    Example: kconnect run orders.json --master 'local[4]' --conf spark.driver.memory=4g

    The configuration is checked first, and all its errors are shown. Source connectors continue from the offset
    topic, sink connectors from their consumer group; interrupting a run loses nothing, the next one resumes.

    Exit codes: 0 done; 1 configuration or data are wrong; 2 wrong usage; 3 something outside is away, try again;
    4 a newer run has taken over; 5 a bug; 130 interrupted.
    """
    run_once(connector, worker, bootstrap_servers, master, conf or (), as_json=as_json, verbose=verbose)


def run_once(
    connector: Path,
    worker: Path | None,
    bootstrap_servers: str | None,
    master: str,
    conf: Sequence[str],
    *,
    as_json: bool,
    verbose: bool,
    replay: bool = False,
) -> None:
    """Run the connector, show how it went, and exit."""
    console = Console(stderr=as_json)
    settings = _spark_settings(conf)
    try:
        outcome = _run(connector, _worker_config(worker, bootstrap_servers), master, settings, console, verbose, replay)
    except ConnectError as error:
        errors = error.errors if isinstance(error, ConfigError) else None
        outcome = Outcome(error.exit_code, error=_error(error, str(error), error.exit_code, errors))
    except KeyboardInterrupt as error:
        text = "Interrupted. The next run continues where this one stopped."
        outcome = Outcome(INTERRUPTED, error=_error(error, text, INTERRUPTED))
    _present(outcome, console, as_json)
    raise typer.Exit(outcome.exit_code)


@dataclass
class Outcome:
    """How a run ended."""

    exit_code: int
    report: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=40))


def _run(
    file: Path,
    worker: Mapping[str, str],
    master: str,
    conf: Mapping[str, str],
    console: Console,
    verbose: bool,
    replay: bool,
) -> Outcome:
    config = connector_config(file)
    warnings = check_configuration(config, worker, None)
    for warning in warnings:
        console.print(f"[yellow]Warning:[/] {warning}", highlight=False)
    spark = find_spark_submit()
    outcome = Outcome(EXIT_OK)
    name = f"kconnect {config.get('name')}"
    with (
        run_spec_file(RunSpec(config, worker, replay_dead_letters=replay)) as path,
        display_of(console, verbose) as display,
    ):
        command = submit_command(spark, path, master=master, conf=conf, name=name)

        def on_event(event: dict[str, Any]) -> None:
            outcome.report = event.get("report", outcome.report)
            if event.get("event") == "error":
                outcome.error = {key: value for key, value in event.items() if key != "event"}
            display.event(event)

        def on_line(line: str) -> None:
            outcome.tail.append(line)
            display.line(line)

        environment = submit_environment(master)
        outcome.exit_code = submit(command, environment=environment, on_event=on_event, on_line=on_line)
    return _judged(outcome)


def _judged(outcome: Outcome) -> Outcome:
    """An end without a word from the job is Spark's: its exit code says nothing about the connector."""
    if outcome.error is None and (outcome.exit_code != EXIT_OK or outcome.report is None):
        text = f"spark-submit ended with exit code {outcome.exit_code} before the job could report"
        outcome.error = {"error": "SparkError", "message": text, "exit_code": EXIT_INTERNAL, "errors": None}
        outcome.exit_code = EXIT_INTERNAL
    return outcome


def _present(outcome: Outcome, console: Console, as_json: bool) -> None:
    if outcome.error is not None:
        show_error(console, outcome.error, outcome.tail)
    elif outcome.report is not None:
        show_report(console, outcome.report)
    if as_json:
        typer.echo(json.dumps({"error": outcome.error} if outcome.error else outcome.report))


def _error(
    error: BaseException, message: str, exit_code: int, errors: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """The same members as the error event of a job."""
    return {"error": type(error).__name__, "message": message, "exit_code": exit_code, "errors": errors}


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


def _worker_config(file: Path | None, bootstrap_servers: str | None) -> dict[str, str]:
    if file is not None:
        worker = _read_worker(file)
    elif bootstrap_servers is not None:
        # Connect's default is 3 replicas, which the single broker of a developer refuses.
        worker = {"offset.storage.replication.factor": "-1"}
    else:
        worker = _read_default_worker(default_data() / "worker.properties")
    return worker if bootstrap_servers is None else worker | {"bootstrap.servers": bootstrap_servers}


def _read_default_worker(file: Path) -> dict[str, str]:
    if not file.is_file():
        raise ConfigError(
            {
                "bootstrap.servers": [
                    "no Kafka is named. Start one with `kconnect broker start`, or name yours with "
                    "--bootstrap-servers host:port or --worker worker.properties"
                ]
            }
        )
    return _read_worker(file)


def _read_worker(file: Path) -> dict[str, str]:
    try:
        return properties.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError({"--worker": [f"cannot read {file}: {error.strerror}"]}) from None
    except UnicodeDecodeError:
        raise ConfigError({"--worker": [f"{file} is not UTF-8 text"]}) from None
