"""`kconnect validate`: all errors of a connector's configuration, before it is put to use."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.arguments import AsJson, print_json
from airflow_kconnect.cli.connectors.command import on_target
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.cli.worker import worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.run import EXIT_CONFIG_OR_DATA
from airflow_kconnect.connect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.submit.operations import validated
from airflow_kconnect.submit.preflight import connector_config

# Nothing is connected to; only that there is such a key matters.
_NO_WORKER = {"bootstrap.servers": "localhost:9092"}


@on_target("bootstrap_servers")
def validate(
    target: Target,
    connector: Annotated[
        Path, typer.Argument(metavar="CONNECTOR_FILE", help="The connector's file.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Check a connector's configuration and show all errors at once. Without --server nothing is connected to.

    Examples: `kconnect validate orders.json`, `kconnect validate orders.json --server http://connect:8083`

    Values with variables such as `${file:...}`, and what depends on them, are checked when the connector runs. The
    worker file matters for override policies and the converters of connectors that name none. A server checks with its
    own plugins; connectors of a Connect cluster may connect to their databases for that.

    Exit codes: 0 valid, maybe with warnings; 1 invalid.
    """
    console = Console(stderr=as_json)
    try:
        result = _by_server(target, connector) if target.server is not None else _here(target, connector)
    except ConfigError as error:
        show_error(console, {"error": "ConfigError", "message": str(error), "errors": error.errors}, ())
        if as_json:
            print_json({"errors": error.errors})
        raise typer.Exit(EXIT_CONFIG_OR_DATA) from error
    for warning in result["warnings"]:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    console.print(Text(f"Connector {result['connector']} ({result['kind']}) is valid."))
    if as_json:
        print_json(result)


def _here(target: Target, file: Path) -> Answer:
    named = target.worker is not None or target.bootstrap_servers is not None
    worker = worker_config(target.worker, target.bootstrap_servers) if named else _NO_WORKER
    return validated(connector_config(file), worker)


def _by_server(target: Target, file: Path) -> Answer:
    """:raises ConfigError: the server has found errors."""
    config = connector_config(file)
    name, class_ = config.get("name"), str(config.get(CONNECTOR_CLASS) or "").strip()
    if not class_:
        raise ConfigError({CONNECTOR_CLASS: ["is missing"]})
    with closing(target.client()) as client:
        infos = client.call("PUT", f"/connector-plugins/{quote(class_)}/config/validate", config)
        plugins = client.call("GET", "/connector-plugins")
    values = [info["value"] for info in infos["configs"]]
    errors = {value["name"]: value["errors"] for value in values if value["errors"]}
    if errors:
        raise ConfigError(errors, None if name is None else str(name))
    kinds = {plugin["class"]: plugin["type"] for plugin in plugins}
    return {"connector": name, "connector_class": infos["name"], "kind": kinds.get(infos["name"]), "warnings": []}
