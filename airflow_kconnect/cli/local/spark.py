"""`kconnect spark`: Spark in the cache, for Python environments without it, and its classes prepared for Java."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.machine.spark_home import spark_home
from airflow_kconnect.machine.spark_install import install_spark
from airflow_kconnect.submit.class_archive import class_archive, make_class_archive
from airflow_kconnect.submit.spark import find_spark_submit

app = typer.Typer(no_args_is_help=True, help="Install Spark outside of this Python environment; let it start sooner.")


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


@app.command()
def archive() -> None:
    """Load Spark's classes once and keep them in a form that Java reads quickly: later runs start sooner.

    It takes half a minute and 190 MB of the cache ($KCONNECT_CACHE), once for each Java and each PySpark. Runs on a
    local master use it from then on; nothing depends on it. In an image, the command comes after `pip install`, as the
    user of the jobs.

    Exit codes: 0 the archive is there; 1 it cannot be created.
    """
    with errors_in_one_line():
        found = find_spark_submit()
        if known := class_archive(found):
            typer.echo(f"Spark's classes are already in {known}.")
            return
        typer.echo("Preparing Spark's classes for Java, so that runs start sooner: about 30 s, 190 MB in the cache.")
        typer.echo("Nothing depends on it: Ctrl-C skips it.")
        typer.echo(f"They are in {make_class_archive(found)}.")
