"""`kconnect plugins`: what is installed, and installing Java plug-ins."""

from __future__ import annotations

import typer

from airflow_kconnect.cli.plugins.installing import install, remove
from airflow_kconnect.cli.plugins.listing import plugins
from airflow_kconnect.cli.plugins.showing import show

app = typer.Typer(invoke_without_command=True)
app.callback()(plugins)
app.command()(install)
app.command()(remove)
app.command()(show)
