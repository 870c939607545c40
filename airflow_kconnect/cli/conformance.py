"""`kconnect conformance`: whether a connector keeps what connectors promise, also when it is killed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import WorkerFile, resolved_worker, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA

if TYPE_CHECKING:
    from airflow_kconnect.conformance.bench import HarnessOf
    from airflow_kconnect.conformance.checks import Check
    from airflow_kconnect.conformance.findings import Finding, Verdict
    from airflow_kconnect.conformance.lab import Lab

_MAY = {"full_read": "at_least_once, by a full read: each run writes everything again"}
_STYLES = {"passed": "green", "failed": "bold red", "does not apply": "dim"}


def conformance(
    connector: Annotated[
        str,
        typer.Argument(
            metavar="CLASS|MODULE:NAME|FILE.PY:NAME",
            help="A connector: an installed one as configurations name it, or a class that need not be installed.",
            show_default=False,
        ),
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Its configuration. Not needed with --harness.", show_default=False
        ),
    ] = None,
    harness: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.PY:NAME",
            help="A subclass of SourceHarness or SinkHarness: the configuration, new data, and what has arrived.",
            show_default=False,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-servers",
            help="Kafka brokers, host:port. Default: one of its own, which is started for it and removed.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK", help="Only this check; may be repeated. `killed` is all kills.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random moments at which runs are killed.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run a connector many times, kill it, and say what it may claim.

    Examples: `kconnect conformance my_source.py:Orders --config orders.json`,
    `kconnect conformance my_pkg:OrdersSink --harness tests/harness.py:OrdersHarness --only killed`

    Each run is a process of its own against a real broker, as `kconnect run` makes it. Runs are repeated, bounded,
    killed with SIGKILL at each step of a commit and at random, and overtaken by others; then what has arrived is
    compared with what should have. Tasks of Python sources are also looked at in this process: their offsets, their
    schemas, and whether they deliver the same again from each of their offsets.

    With a configuration alone a source has the data it has, and what an undisturbed run delivers is expected; checks
    that need more do not apply, and say so. A harness adds data, and for a sink reads back what has arrived.

    Exit codes: 0 no check failed; 1 one failed, or the arguments are wrong; 3 Kafka is unavailable.
    """
    from airflow_kconnect.conformance.lab import Lab
    from airflow_kconnect.conformance.subject import Subject
    from airflow_kconnect.conformance.suite import checks_of
    from airflow_kconnect.submit.submit import sigterm_as_exit

    console = Console(stderr=as_json)
    with errors_shown(), sigterm_as_exit(), tempfile.TemporaryDirectory(prefix="kconnect-conformance-") as folder:
        subject = Subject.of(connector, Path(folder))
        harness_of, checks = _harness_of(config, harness), checks_of(subject, only or ())
        with _kafka(worker, bootstrap_servers, Path(folder), console) as keys:
            verdict = _verdict(Lab(subject, harness_of, keys, Path(folder), seed), checks, console)
    if as_json:
        typer.echo(json.dumps({**asdict(verdict), "kept": verdict.kept}))
    else:
        _show(console, verdict)
    if not verdict.kept:
        raise typer.Exit(EXIT_CONFIG_OR_DATA)


def _verdict(lab: Lab, checks: Sequence[Check], console: Console) -> Verdict:
    from airflow_kconnect.conformance.suite import examined

    def on_finding(finding: Finding) -> None:
        if not console.is_terminal:
            console.print(_line(finding), soft_wrap=True)

    with console.status("") as status:
        return examined(lab, checks, lambda check: status.update(f"{check.name}: {check.text}"), on_finding)


def _line(finding: Finding) -> Text:
    return Text.assemble((f"{finding.status:14} ", _STYLES[finding.status]), finding.check)


def _harness_of(config: Path | None, harness: str | None) -> HarnessOf:
    from airflow_kconnect.conformance.harness import ConfigOnly, Harness
    from airflow_kconnect.conformance.subject import loaded
    from airflow_kconnect.submit.preflight import connector_config

    if harness is not None:
        found = loaded(harness, "--harness")
        if not (isinstance(found, type) and issubclass(found, Harness)):
            raise ConfigError({"--harness": [f"{harness} is not a subclass of SourceHarness or SinkHarness"]})
        return found
    if config is None:
        raise ConfigError({"--config": ["is missing: name a configuration, or a harness with --harness"]})
    given = connector_config(config)
    return lambda folder, topic: ConfigOnly(folder, topic, given)


@contextmanager
def _kafka(worker: Path | None, servers: str | None, folder: Path, console: Console) -> Iterator[Mapping[str, Any]]:
    """The worker's keys: of the user's Kafka, or of one that is there as long as the block."""
    if worker is not None or servers is not None:
        yield resolved_worker(worker_config(worker, servers))
        return
    from airflow_kconnect.local.broker import EmbeddedBroker
    from airflow_kconnect.local.broker_files import worker_config as keys_of
    from airflow_kconnect.submit.worker_defaults import with_defaults

    status = console.status("starting Kafka")
    broker = EmbeddedBroker(folder / "kafka", progress=status.update)
    try:
        with status:
            broker.start()
        yield with_defaults(keys_of(broker.bootstrap))
    finally:
        broker.stop()


def _show(console: Console, verdict: Verdict) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("Check", "Result", "What was found, what to do"):
        table.add_column(column, overflow="fold")
    for finding in verdict.findings:
        table.add_row(finding.check, Text(finding.status, style=_STYLES[finding.status]), Text(finding.text))
    console.print(table)
    may = (
        "too little was checked to say" if verdict.may is None else f"it may claim {_MAY.get(verdict.may, verdict.may)}"
    )
    console.print(Text(f"It claims {verdict.claims}: {may}."), soft_wrap=True)
