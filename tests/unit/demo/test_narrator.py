"""What the demo says while it works."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from itertools import count

from rich.console import Console

from airflow_kconnect.demo.narrator import Narrator


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


class TestWithoutTerminal:
    def test_a_long_step_is_named_again_with_its_duration(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out), silence_s=0.1) as narrator:
            narrator("Downloading")
            wait_for(lambda: "Downloading, for" in out.getvalue())

    def test_what_is_done_is_said_at_once(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out)) as narrator:
            narrator.say("Kafka runs")

            assert "Kafka runs\n" in out.getvalue()

    def test_steps_that_are_over_at_once_are_left_out(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out), between_s=0, lasting_s=60, silence_s=60) as narrator:
            narrator("one")
            narrator("two")

        assert out.getvalue() == ""

    def test_after_what_is_done_nothing_is_repeated(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out), silence_s=0.1, between_s=0) as narrator:
            narrator("Downloading")
            narrator.say("Downloaded")
            time.sleep(0.5)

        assert out.getvalue().rstrip().endswith("Downloaded")

    def test_brackets_in_a_step_are_text(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out), between_s=0, lasting_s=0) as narrator:
            narrator("[2/5] planning [/red]")
            wait_for(lambda: "[2/5] planning [/red]" in out.getvalue())

    def test_steps_that_change_all_the_time_are_named_now_and_then(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out), silence_s=0.1) as narrator:
            for number in count():
                narrator(f"file {number}")
                if "file" in out.getvalue():
                    break
                time.sleep(0.01)

    def test_a_long_line_is_not_folded(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out, width=40)) as narrator:
            narrator.say("x" * 100)

        assert "x" * 100 in out.getvalue()


class TestOnATerminal:
    def test_a_step_is_shown_and_what_is_done_stays(self) -> None:
        out = io.StringIO()
        with Narrator(Console(file=out, force_terminal=True, force_interactive=True)) as narrator:
            narrator("Downloading")
            wait_for(lambda: "Downloading" in out.getvalue())
            narrator.say("Kafka runs")

        assert "Kafka runs" in out.getvalue()

    def test_a_recording_keeps_only_what_stays(self) -> None:
        console = Console(file=io.StringIO(), force_terminal=True, record=True)
        with Narrator(console, silence_s=0.1) as narrator:
            narrator("Downloading")
            time.sleep(0.5)
            narrator.say("Kafka runs")

        assert console.export_text().split(maxsplit=2)[2:] == ["Kafka runs\n"]
