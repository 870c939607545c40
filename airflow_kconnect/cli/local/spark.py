"""`kconnect spark`: Spark in the cache, for Python environments without it."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.machine.spark_home import spark_home
from airflow_kconnect.machine.spark_install import install_spark

app = typer.Typer(no_args_is_help=True, help="Install Spark outside of this Python environment.")


@app.callback()
def spark() -> None:
    """Install Spark outside of this Python environment."""


@app.command()
def install(
    force: Annotated[bool, typer.Option("--force", help="Install it even if a Spark is found.")] = False,
) -> None:
    """Install Spark into the cache ($KCONNECT_CACHE): about 500 MB that need not be in an Airflow image.

    Operators and `kconnect run` use it where SPARK_HOME is not set, spark-submit is not on PATH, and this Python has no
    PySpark of its own (pip install 'airflow-kconnect[spark]').

    Exit codes: 0 Spark is installed; 1 the cache cannot be written; 3 the download failed.
    """
    with errors_in_one_line():
        home = None if force else spark_home()
        if home is not None and (home / "jars").is_dir():
            typer.echo(f"Spark is already in {home}.")
            return
        typer.echo("Installing Spark: a download of about 450 MB, and a minute of unpacking.")
        typer.echo(f"Spark is in {install_spark()}.")
