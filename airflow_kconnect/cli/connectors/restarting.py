"""`kconnect restart`: a run now."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, Name, print_json
from airflow_kconnect.cli.connectors.command import on_connectors


@on_connectors
def restart(
    connectors: Connectors,
    name: Name,
    include_tasks: Annotated[
        bool, typer.Option("--include-tasks", help="Restart its tasks, too, as Connect does with `includeTasks`.")
    ] = False,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Restart only what has failed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start a run of a connector now; in a Connect cluster, restart it.

    Example: kconnect restart orders-sink --include-tasks --only-failed --server https://airflow.example.com/kconnect

    Airflow starts a run of the connector's DAG, unless it is paused or stopped. Straight to the topics nothing
    could do that, which is an error. `kconnect rest` accepts the request, and starts nothing.
    """
    plan = connectors.restart(name, include_tasks=include_tasks, only_failed=only_failed)
    if as_json:
        print_json({"name": name, "restart": plan})
        return
    if plan is None:
        typer.echo(f"{connectors.target} was asked to restart connector {name}.")
        return
    count = sum(each["state"] == "RESTARTING" for each in (plan["connector"], *plan["tasks"]))
    typer.echo(f"Connector {name}: nothing has failed." if not count else f"Connector {name} is being restarted.")
