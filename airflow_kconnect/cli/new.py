"""`kconnect new`: a package to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.skeletons.writing import Kind, written


def new(
    kind: Annotated[Kind, typer.Argument(help="What it is to have.", show_default=False)],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Of the package and its folder: orders-source.", show_default=False)
    ],
    into: Annotated[Path, typer.Option(metavar="DIR", help="The folder in which its folder is made.")] = Path(),
) -> None:
    """Write a package with a connector or a transformation, a function: typed, with tests that pass, and with CI.

    Examples: `kconnect new source orders`, `kconnect new sink lake-sink --into ~/src`

    The package works as it is. Nothing is overwritten.

    Exit codes: 0 done; 1 the name cannot be that of a package, or the folder is there.
    """
    with errors_shown():
        paths = written(kind, name, into)
    for path in paths:
        typer.echo(path)
    typer.echo(f"\nNext: cd {into / name} && pip install --editable '.[dev]' && pytest")
