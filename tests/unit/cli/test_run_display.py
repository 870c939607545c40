"""The progress bar of `kconnect run` on a terminal."""

from __future__ import annotations

import io

from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.run_display import BarDisplay, LineDisplay, display_of

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
