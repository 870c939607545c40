"""`kconnect demo`: two pipelines by Airflow, Kafka and Spark on this machine, to see what this is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.local.home import home_folder
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.submit.submit import sigterm_as_exit

_SVG_COLUMNS = 92


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder for data, Kafka, Airflow and log; cleared by the next demo. Default: $KCONNECT_HOME/demo, or "
            "~/.airflow_kconnect/demo.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave Kafka running at the end, to look into its topics.")
    ] = False,
    lake: Annotated[
        bool, typer.Option("--lake", help="Another pipeline: changes of a table into an Iceberg table, by key.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(help="Also save what was shown as an SVG image.", hidden=True, show_default=False)
    ] = None,
) -> None:
    """Run the demo: Airflow, Spark and Kafka on this machine move two data sets, twice; the second run resumes.

    Lines of a CSV file go through Kafka into JSON lines, rows of a SQLite table into Parquet files. Then records are
    added, and only these are moved. The output is compared with the input: each record once, in order.

    With --lake, changes of orders go through Kafka into an Iceberg table: inserted, updated and deleted. In the end
    Spark and DuckDB are asked for what the table has.

    Needs Java 17 or newer and `pip install 'airflow-kconnect[spark,jdbc]'`, with --lake `[demo]`. Takes two to four
    minutes; the first time downloads Kafka and a JDBC driver (60 MB), with --lake Iceberg's jar (48 MB), into a cache.
    Nothing but its folder and the cache is written: not your Airflow, not your Kafka. Nothing is left running, unless
    with --keep.

    Exit codes: 0 done; 1 it failed; 3 something outside is unavailable, try again; 130 interrupted.
    """
    console = Console(record=svg is not None, force_terminal=True if svg else None, width=_SVG_COLUMNS if svg else None)
    try:
        from airflow_kconnect.demo.demo import Demo
        from airflow_kconnect.demo.lake import LakePipeline
        from airflow_kconnect.demo.pipelines import FilePipeline, TablePipeline

        with sigterm_as_exit():
            kinds = (LakePipeline,) if lake else (FilePipeline, TablePipeline)
            Demo((folder or home_folder() / "demo").expanduser().absolute(), console, keep=keep, kinds=kinds).run()
    except ConnectError as error:
        Console(stderr=True).print(Text.assemble(("The demo failed: ", "bold red"), str(error)), soft_wrap=True)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if svg is not None:
        from airflow_kconnect.demo.recording import save_svg

        save_svg(console, svg)
