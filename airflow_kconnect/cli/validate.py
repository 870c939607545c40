"""`kconnect validate`: all errors of a connector's configuration, before it is put to use."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import quote

import typer
from rich.text import Text

from airflow_kconnect.cli.airflow_variables import airflow_variables, with_airflow_login
from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.arguments import AsJson, Folder, NamesOrFiles, folder_files, print_json
from airflow_kconnect.cli.connectors.command import on_target
from airflow_kconnect.cli.connectors.given import file_config, given
from airflow_kconnect.cli.connectors.over_rest import OverRest
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import error_event, show
from airflow_kconnect.cli.worker import worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.secrets import HIDDEN
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA
from airflow_kconnect.submit.operations import registered_name, validated
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS

# Nothing is connected to; only that there is such a key matters.
_NO_WORKER = {"bootstrap.servers": "localhost:9092"}


@on_target()
def validate(target: Target, connectors: NamesOrFiles = None, folder: Folder = None, as_json: AsJson = False) -> None:
    """Check connectors' configurations and show all errors at once. Files are checked without any connection.

    Examples: `kconnect validate orders.json`, `kconnect validate orders`, `kconnect validate orders.json --server URL`,
    `kconnect validate --folder connectors/`

    NAME is a registered connector; a file that exists wins over a name. Values with variables such as `${file:...}`,
    and what depends on them, are checked when the connector runs. The worker file matters for override policies and
    the converters of connectors that name none. With --server a server checks with its own plugins; connectors of a
    Connect cluster may connect to their databases for that.

    Exit codes: 0 valid, maybe with warnings; 1 one is invalid.
    """
    if not connectors and folder is None:
        raise typer.BadParameter("name a connector, or several with --folder", param_hint="NAME|FILE")
    console = Console(stderr=as_json)
    several = folder is not None or len(connectors or ()) > 1
    answers = {
        connector: _shown(target, connector, console, several=several)
        for connector in dict.fromkeys([*(connectors or ()), *folder_files(folder)])
    }
    if as_json:
        print_json({"connectors": answers} if several else next(iter(answers.values())))
    if any("errors" in answer for answer in answers.values()):
        raise typer.Exit(EXIT_CONFIG_OR_DATA)


def _shown(target: Target, connector: str, console: Console, *, several: bool) -> Answer:
    """Check one and show how it is. Returns that for JSON."""
    try:
        result = _by_server(target, connector) if target.server is not None else _here(target, connector)
    except ConfigError as error:
        if several:
            console.print(Text(f"{connector} is invalid:", style="bold"), soft_wrap=True)
        show(console, error_event(error))
        return {"errors": error.errors}
    for warning in result["warnings"]:
        of = f"{result['connector']}: " if several else ""
        console.print(Text.assemble(("Warning: ", "yellow"), f"{of}{warning}"))
    console.print(Text(f"Connector {result['connector']} ({result['kind']}) is valid."))
    return result


def _here(target: Target, connector: str) -> Answer:
    named = target.worker is not None or target.bootstrap_servers is not None
    if registered_name(connector) is not None:
        found = given(connector, worker_config(target.worker, target.bootstrap_servers))
        config, worker = found.config, found.worker
    else:
        config = file_config(connector)
        worker = worker_config(target.worker, target.bootstrap_servers) if named else _NO_WORKER
    config = with_airflow_login(config, worker)
    return validated(config, worker, airflow_variables(config, worker))


def _by_server(target: Target, connector: str) -> Answer:
    """:raises ConfigError: the server has found errors."""
    with closing(target.client()) as client:
        if registered_name(connector) is None:
            config, kind = file_config(connector), None
        else:
            info = OverRest(client).info(connector.strip())
            config, kind = info["config"], info["type"]
        class_ = str(config.get(CONNECTOR_CLASS) or "").strip()
        if not class_:
            raise ConfigError({CONNECTOR_CLASS: ["is missing"]})
        path = f"/connector-plugins/{quote(class_)}"
        if HIDDEN in config.values():  # one of our own servers, which knows what it has hidden
            path = f"/v1/connectors/{quote(connector.strip(), safe='')}"
        infos = client.call("PUT", f"{path}/config/validate", config)
        kinds = {plugin["class"]: plugin["type"] for plugin in client.call("GET", "/connector-plugins")}
    name = config.get("name")
    values = [info["value"] for info in infos["configs"]]
    errors = {value["name"]: value["errors"] for value in values if value["errors"]}
    if errors:
        raise ConfigError(errors, None if name is None else str(name))
    kind = kind or kinds.get(infos["name"])
    return {"connector": name, "connector_class": infos["name"], "kind": kind, "warnings": []}
