"""The progress line."""

from __future__ import annotations

import io

from airflow_kconnect.machine.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def write(stream: io.StringIO, times_s: list[float]) -> str:
    with ProgressLine(stream, clock=iter(times_s).__next__) as progress:
        for number in range(len(times_s)):
            progress(str(number))
    return stream.getvalue()


class TestProgressLine:
    def test_a_terminal_has_one_line_which_is_cleared(self) -> None:
        assert write(Terminal(), [0, 0.01, 1]) == "\r\x1b[K0\r\x1b[K2\r\x1b[K"

    def test_a_file_gets_a_line_every_five_seconds(self) -> None:
        assert write(io.StringIO(), [0, 1, 4.9, 5, 9, 11]) == "0\n3\n5\n"

    def test_nothing_to_say(self) -> None:
        assert write(Terminal(), []) == ""
