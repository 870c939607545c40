"""`kconnect doctor`: what is wrong with this machine, Airflow, Kafka or a connector's file, and what to do about it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson
from airflow_kconnect.cli.connectors.completion import connector_names
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.worker import Servers, WorkerFile, known_worker

if TYPE_CHECKING:
    from airflow_kconnect.doctor.findings import Checks, Finding

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "skipped": "dim"}


def doctor(
    connector: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]",
            help="A registered connector, or a file: its configuration, topics and rights are checked too.",
            show_default=False,
            autocompletion=connector_names,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    airflow: Annotated[
        bool | None,
        typer.Option(
            "--airflow/--no-airflow",
            help="Look at Airflow's connections kafka_default and spark_default (takes some seconds). Default: if "
            "$AIRFLOW_HOME has a database.",
            show_default=False,
        ),
    ] = None,
    transactions: Annotated[
        bool,
        typer.Option(
            "--transactions",
            help="Also take the transactional id `<group.id>-kconnect-doctor`, to see whether that is allowed. The "
            "brokers remember it for some days; no topic is affected.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check Java, Spark, Python, Airflow, Kafka, topics and rights: what is wrong, and what to do.

    Examples: `kconnect doctor`, `kconnect doctor orders`, `kconnect doctor orders.json --bootstrap-servers broker:9092`

    Nothing is created or changed. Without a broker that can be reached, what needs one is skipped.

    Exit codes: 0 no problem, maybe with warnings; 1 at least one problem.
    """
    from airflow_kconnect.doctor.subject import Subject

    subject = Subject(
        lambda: known_worker(worker, bootstrap_servers),
        connector,
        airflow=_has_airflow() if airflow is None else airflow,
        transactions=transactions,
    )
    console = Console(stderr=as_json)
    with console.status("checking"):
        findings = list(checks(connector is not None).run(subject))
    if as_json:
        typer.echo(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        _show(console, findings)
    if any(finding.status == "problem" for finding in findings):
        raise typer.Exit(1)


def checks(with_connector: bool) -> Checks:
    """All checks, in the order in which they are shown.

    :param with_connector: also those of a connector's file.
    """
    from airflow_kconnect.doctor import airflow, connector, kafka, machine, plugins
    from airflow_kconnect.doctor.findings import Checks

    all_checks = Checks()
    for module in (machine, plugins, airflow, kafka, *([connector] if with_connector else [])):
        module.register(all_checks)
    return all_checks


def _has_airflow() -> bool:
    home = os.environ.get("AIRFLOW_HOME")
    return home is not None and (Path(home) / "airflow.db").is_file()


def _show(console: Console, findings: Sequence[Finding]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("Check", "Result", "What was found, what to do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        text = Text(finding.text)
        if finding.cure:
            text.append(f"\n{finding.cure}", style="italic")
        table.add_row(finding.name, Text(finding.status, style=_STYLES[finding.status]), text)
    console.print(table)
    counts = {status: sum(finding.status == status for finding in findings) for status in ("problem", "warning")}
    words = [f"{count} {status}{'' if count == 1 else 's'}" for status, count in counts.items() if count]
    console.print(Text(f"{', '.join(words) or 'No problem'}."))
