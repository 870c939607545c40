"""Texts of records and servers do nothing to a terminal."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.console import Console, json_line

HOSTILE = "a\x1b]0;title\x07b\x1b[2J\x1b[8mc\x9b31md\re\x7ff\N{RIGHT-TO-LEFT OVERRIDE}g\ud800h"
ACTS = set("\x1b\x07\x9b\r\x7f\N{RIGHT-TO-LEFT OVERRIDE}\ud800")


def printed(*renderables: object) -> str:
    file = StringIO()
    console = Console(file=file, width=200)
    for each in renderables:
        console.print(each, soft_wrap=True)
    return file.getvalue()


def test_texts_and_tables_are_shown_without_what_acts() -> None:
    table = Table("one")
    table.add_row(Text(HOSTILE))
    shown = printed(Text(HOSTILE), table, HOSTILE)
    assert not ACTS & set(shown)
    assert shown.count("title") == 3


def test_lines_stay_and_colours_are_those_of_the_command() -> None:
    file = StringIO()
    Console(file=file, force_terminal=True, color_system="standard").print(Text("one\ntwo", style="red"))
    assert file.getvalue() == "\x1b[31mone\x1b[0m\n\x1b[31mtwo\x1b[0m\n"


@pytest.mark.parametrize("text", [HOSTILE, "ünï \N{SNOWMAN}"])
def test_json_is_escaped_and_means_the_same(text: str) -> None:
    line = json_line({"value": text})
    assert json.loads(line) == {"value": text}
    assert not ACTS & set(line)


def test_json_stays_readable() -> None:
    assert json_line("ünï \N{SNOWMAN}") == '"ünï \N{SNOWMAN}"'
