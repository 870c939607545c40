"""`kconnect run`: a run of a connector, or of each of many, as Airflow would do it, without Airflow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.arguments import Folder, NamesOrFiles
from airflow_kconnect.cli.connectors.given import plugin_of
from airflow_kconnect.cli.running.group import Members, run_many
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.running.single import run_once
from airflow_kconnect.cli.worker import Master, Servers, SparkSettings, WorkerFile
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.group import MAX_PARALLEL


def run(
    connectors: NamesOrFiles = None,
    folder: Folder = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="GROUP",
            help="The registered connectors with this `kconnect.group`.",
            show_default=False,
        ),
    ] = None,
    max_parallel: Annotated[
        int, typer.Option("--max-parallel", min=1, help="Of several connectors: how many run at once.")
    ] = MAX_PARALLEL,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            "--plugin",
            metavar="FILE.py[:NAME]",
            help="A file with plug-ins, which configurations may name as FILE.NAME. With a name that connector is run, "
            "even without a configuration.",
            show_default=False,
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A key of the connector, in place of what its configuration has.",
            show_default=False,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    master: Master = "local[*]",
    conf: SparkSettings = None,
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
    """Run connectors once: move what is new since their last runs, then end.

    Examples: `kconnect run orders.json`, `kconnect run orders returns.json --master 'local[4]'`,
    `kconnect run --folder connectors/ --max-parallel 8`, `kconnect run --plugin my_source.py:orders --set topic=orders`

    NAME is a registered connector, whose configuration is in the worker's `config.storage.topic`; a file that exists
    wins over a name. The configuration is checked first, and all its errors are shown. Source connectors continue from
    the offset topic, sink connectors from their consumer group; interrupting a run loses nothing, the next one
    resumes. A connector that is paused or stopped is not run (`kconnect resume`); replays and dry runs are.

    Several connectors are one job on one Spark; sinks wait for the sources that feed them. If one fails, the others run
    nevertheless, and the exit code tells: 1 before 5, 3, 4.

    Exit codes: 0 done, or paused; 1 configuration or data are wrong; 2 wrong usage; 3 something outside is unavailable,
    try again; 4 a newer run has taken over; 5 a bug; 130 interrupted.
    """
    if again and replay is None:
        raise typer.BadParameter("is for replays: name the interval with --replay", param_hint="--again")
    options = RunOptions(worker, bootstrap_servers, master, conf or (), as_json=as_json, verbose=verbose,
                         interval=replay, again=again, dry_run=dry_run, keys=keys or ())  # fmt: skip
    names = [*(connectors or []), *with_plugins(plugin or [])]
    if not names and folder is None and group is None:
        raise typer.BadParameter("name a connector, or several with --folder or --group", param_hint="NAME|FILE")
    if keys and (len(names) != 1 or folder is not None or group is not None):
        raise typer.BadParameter("is about one connector", param_hint="--set")
    if len(names) == 1 and folder is None and group is None:
        run_once(names[0], options)
    else:
        run_many(Members(names, folder, group, max_parallel), options)


def with_plugins(plugins: list[str]) -> list[str]:
    """Have the plug-ins of files; those that are named are connectors to run. Ends the command if there is none."""
    named = []
    for text in plugins:
        if plugin_of(text) is not None:
            named.append(text)
            continue
        try:
            registry().add(PluginFile.read(Path(text)))
        except ConfigError as error:
            raise typer.BadParameter(str(error), param_hint="--plugin") from None
    return named
