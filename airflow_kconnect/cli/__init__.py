"""The `kconnect` command."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect import __version__
from airflow_kconnect.cli.apply import apply
from airflow_kconnect.cli.conformance import conformance
from airflow_kconnect.cli.connectors.changing import config, create, delete
from airflow_kconnect.cli.connectors.describing import describe, tasks, topics
from airflow_kconnect.cli.connectors.editing import edit
from airflow_kconnect.cli.connectors.lag import lag
from airflow_kconnect.cli.connectors.listing import list_
from airflow_kconnect.cli.connectors.restarting import restart
from airflow_kconnect.cli.connectors.runs import runs
from airflow_kconnect.cli.doctor import doctor
from airflow_kconnect.cli.local.broker import app as broker
from airflow_kconnect.cli.local.demo import demo
from airflow_kconnect.cli.local.registry import app as registry
from airflow_kconnect.cli.local.spark import app as spark
from airflow_kconnect.cli.migrate import migrate
from airflow_kconnect.cli.new import new
from airflow_kconnect.cli.operations.dlq import app as dlq
from airflow_kconnect.cli.operations.offsets import app as offsets
from airflow_kconnect.cli.operations.states import pause, resume, stop
from airflow_kconnect.cli.operations.status import status
from airflow_kconnect.cli.operations.topic import app as topic
from airflow_kconnect.cli.operations.topic import tail
from airflow_kconnect.cli.plugins import app as plugins
from airflow_kconnect.cli.preview import preview
from airflow_kconnect.cli.reference import reference
from airflow_kconnect.cli.rest import rest
from airflow_kconnect.cli.run import run
from airflow_kconnect.cli.tables import app as tables
from airflow_kconnect.cli.validate import validate

app = typer.Typer(
    name="kconnect",
    rich_markup_mode="markdown",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    # Tracebacks are for bugs; local variables in them may be secrets.
    pretty_exceptions_enable=False,
    help="Kafka Connect without a Connect cluster: run connectors on Spark, here or from Airflow.",
    epilog="Start here: `kconnect broker start`, then `kconnect run connector.json`.",
)
app.add_typer(broker, name="broker")
app.add_typer(dlq, name="dlq")
app.add_typer(offsets, name="offsets")
app.add_typer(plugins, name="plugins")
app.add_typer(registry, name="registry")
app.add_typer(spark, name="spark")
app.add_typer(tables, name="tables")
app.add_typer(topic, name="topic")
_CONNECTORS = "Connectors"
_RUNNING = (demo, run, apply, validate, preview, new, conformance, doctor, migrate, rest, reference)
_REGISTERED = (status, runs, describe, create, edit, config, delete, pause, resume, stop, restart, tasks, topics, lag)
app.command("list", rich_help_panel=_CONNECTORS)(list_)
for command in _REGISTERED:
    app.command(rich_help_panel=_CONNECTORS)(command)
for command in _RUNNING:
    app.command()(command)
app.command("tail", short_help="The same as `kconnect topic tail`.")(tail)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"kconnect {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Kafka Connect without a Connect cluster: run connectors on Spark, here or from Airflow."""
