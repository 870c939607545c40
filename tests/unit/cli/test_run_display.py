"""The progress bar of `kconnect run` on a terminal."""

from __future__ import annotations

import io

from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.run_display import BarDisplay, LineDisplay, display_of, show_error

FENCING = {"event": "phase", "name": "fencing", "text": "fencing older runs of weather", "step": 2, "steps": 6}


def terminal() -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(file=screen, force_terminal=True, width=120), screen


def test_a_terminal_gets_a_bar_and_a_file_gets_lines() -> None:
    assert isinstance(display_of(terminal()[0], verbose=False), BarDisplay)
    assert isinstance(display_of(Console(file=io.StringIO()), verbose=False), LineDisplay)


def test_the_bar_shows_the_phase() -> None:
    console, screen = terminal()

    with BarDisplay(console, verbose=False) as display:
        assert "starting the job" in screen.getvalue()
        display.event(FENCING)

    assert "[2/6] fencing older runs of weather" in screen.getvalue()


def test_lines_show_the_phase_once() -> None:
    screen = io.StringIO()

    with LineDisplay(Console(file=screen), verbose=False) as display:
        display.event(FENCING)
        display.line("a line of Spark")

    assert screen.getvalue().splitlines() == ["starting the job", "[2/6] fencing older runs of weather"]


def test_an_error_that_a_runbook_explains_names_it_and_the_next_step() -> None:
    screen = io.StringIO()
    error = {"error": "DataError", "message": "bad record at t-0@5: VALUE_CONVERTER by X: no", "errors": None}
    show_error(Console(file=screen), error, ())
    _, step, runbook = screen.getvalue().splitlines()
    assert "`errors.tolerance` to all" in step
    assert runbook.endswith("docs/runbooks/bad-record.md")


def test_an_error_of_a_key_that_a_runbook_explains_names_it() -> None:
    screen = io.StringIO()
    errors = {"data_interval": ["`data_interval`: the interval is empty"]}
    show_error(Console(file=screen), {"error": "ConfigError", "message": "", "errors": errors}, ())
    assert screen.getvalue().splitlines()[-1].endswith("docs/runbooks/empty-interval.md")
