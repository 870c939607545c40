"""`kconnect migrate`: connectors of a Connect cluster, judged, moved here, and given back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.migrate_display import as_dict, outcome_dict, show_errors, show_survey
from airflow_kconnect.cli.worker import Servers, WorkerFile, known_worker, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA

if TYPE_CHECKING:
    from airflow_kconnect.migration.cluster import ConnectCluster
    from airflow_kconnect.migration.folder import ConnectorFolder
    from airflow_kconnect.migration.here import Here
    from airflow_kconnect.migration.moves import Outcome
    from airflow_kconnect.migration.survey import Survey


Url = Annotated[str, typer.Option("--from", metavar="URL", help="REST API of the Connect cluster.", show_default=False)]
Names = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Only this connector; may be repeated. Default: all.", show_default=False),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="FOLDER",
        help="Folder of connector files, in Airflow's folder of DAGs. A file that exists is what is judged and run; it "
        "is never changed.",
        show_default=False,
    ),
]
Apply = Annotated[
    bool, typer.Option("--apply", help="Move the connectors. Without it nothing is changed on either side.")
]
Back = Annotated[bool, typer.Option("--back", help="With --apply: give connectors back to Connect.")]
User = Annotated[
    str | None,
    typer.Option(
        envvar="KCONNECT_CONNECT_USER", help="User of the REST API, if it requires a login.", show_default=False
    ),
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Its first line is the password; or set KCONNECT_CONNECT_PASSWORD.", show_default=False
    ),
]
CaFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="PEM file of the authorities to trust for https.", show_default=False),
]
OtherCluster = Annotated[
    bool,
    typer.Option(
        "--other-cluster",
        help="Kafka here is another cluster than Connect's, and topics of sinks have the same records at the same "
        "offsets in both.",
    ),
]


def migrate(
    url: Url,
    connector: Names = None,
    folder: Folder = None,
    apply: Apply = False,
    back: Back = False,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca_file: CaFile = None,
    other_cluster: OtherCluster = False,
    as_json: AsJson = False,
) -> None:
    """Show which connectors of a Connect cluster can run here and how, move them, and give them back.

    Examples:

    `kconnect migrate --from http://connect:8083 --worker worker.properties`

    `kconnect migrate --from http://connect:8083 --connector orders --to dags/connectors --apply`

    `kconnect migrate --from http://connect:8083 --connector orders --back --apply`

    A move writes the connector's file, stops it in Connect, copies its offsets where they are kept in another topic or
    cluster, and starts it here: the next run resumes exactly where Connect stopped. A call after a failure continues,
    and at no time do both run a connector.

    Exit codes: 0 done; 1 a connector that was asked for cannot move, or none can; 3 Connect or Kafka is unavailable.
    """
    console = Console(stderr=as_json)
    named = list(dict.fromkeys(connector or []))
    outcomes: list[Outcome] = []
    with errors_shown():
        from airflow_kconnect.migration.cluster import ConnectCluster
        from airflow_kconnect.migration.credentials import access_of
        from airflow_kconnect.migration.folder import ConnectorFolder
        from airflow_kconnect.migration.recreation import recreate
        from airflow_kconnect.migration.survey import survey

        if apply and not back and folder is None:
            raise ConfigError({"--to": ["a folder for the connectors' files is needed to move them"]})
        files = ConnectorFolder(folder) if folder else None
        here = _here(worker, bootstrap_servers, needed=apply or back)
        with ConnectCluster(access_of(url, user, password_file, ca_file)) as cluster:
            if back and apply and files and here:
                recreate(cluster, here, files, named, _teller(console))
            surveyed = survey(cluster, here, files, named, other_cluster=other_cluster)
            if not apply or surveyed.problems:
                show_survey(console, surveyed, back=back, apply=apply)
            elif here is not None:
                outcomes = _move(cluster, here, surveyed, files, named, console, back=back)
    if as_json:
        typer.echo(json.dumps({**as_dict(surveyed), "moves": [outcome_dict(outcome) for outcome in outcomes]}))
    if surveyed.problems:
        raise typer.Exit(EXIT_CONFIG_OR_DATA)
    _exit(outcomes)


def _here(worker: Path | None, bootstrap_servers: str | None, *, needed: bool) -> Here | None:
    from airflow_kconnect.migration.here import Here

    keys = worker_config(worker, bootstrap_servers) if needed else known_worker(worker, bootstrap_servers)
    if keys is None:
        return None
    check_listening(keys)
    return Here(keys)


def _move(
    cluster: ConnectCluster,
    here: Here,
    surveyed: Survey,
    files: ConnectorFolder | None,
    named: Sequence[str],
    console: Console,
    *,
    back: bool,
) -> list[Outcome]:
    from airflow_kconnect.migration.moves import Moves

    tell = _teller(console)
    for warning in surveyed.warnings:
        console.print(Text.assemble(("Warning: ", "yellow"), warning), soft_wrap=True)
    moves = Moves(cluster, here, surveyed, tell)
    outcomes = moves.back(named) if back or files is None else moves.to_here(files, named)
    if not outcomes:
        tell("", "No connector has moved here." if back else "No connector can move.")
    show_errors(console, outcomes)
    return outcomes


def _teller(console: Console) -> Callable[[str, str], None]:
    def tell(name: str, text: str) -> None:
        console.print(Text.assemble((f"{name}: " if name else "", "bold"), text), soft_wrap=True)

    return tell


def _exit(outcomes: Sequence[Outcome]) -> None:
    codes = [outcome.error.exit_code for outcome in outcomes if outcome.error is not None]
    if codes:
        raise typer.Exit(max(codes))
