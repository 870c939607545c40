"""A clone on a bare machine: README's commands, with empty caches and an empty home."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterator

import pytest

from tests.support.pages.newcomer import CLONE_URL, make_settings, repository_in
from tests.support.pages.page_steps import README, first_line, steps
from tests.support.pages.reader import Reader

# Longest time between two lines that a reader of a log should have to bear.
SILENCE_S = 60

(CLONE,) = [block for block in steps(README) if first_line(block).startswith("git clone")]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, str]]:
    """A reader who has typed README's commands, and what they printed.

    Git finds the project in these sources instead of at its URL.
    """
    folder = tmp_path_factory.mktemp("clone")
    origin = repository_in(folder / "origin")
    environment = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": CLONE_URL,
        **make_settings(),
    }
    reader = Reader([README], folder / "reader", environment)
    reader.type(CLONE.text)
    yield reader, reader.printed
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def reader(clone: tuple[Reader, str]) -> Reader:
    return clone[0]


@pytest.fixture
def output(clone: tuple[Reader, str]) -> str:
    return clone[1]


def test_the_demo_ends_well(output: str) -> None:
    assert re.search(r"^Done in \d+ s\.", output, re.MULTILINE)


def test_the_demo_has_compared_the_output_of_both_pipelines_with_their_input(output: str) -> None:
    assert len(re.findall(r"^Checked: [\d,]+ \w+ in, the same out", output, re.MULTILINE)) == 2


def test_the_second_runs_of_the_demo_move_only_what_is_new(output: str) -> None:
    written = re.findall(r"(\w+): ([\d,]+) records written$", output, re.MULTILINE)
    assert written == [
        *(("read_file", "974"), ("write_files", "974"), ("read_file", "487"), ("write_files", "487")),
        *(("read_table", "373"), ("write_parquet", "373"), ("read_table", "187"), ("write_parquet", "187")),
    ]


def test_the_demo_is_never_silent_for_long(output: str) -> None:
    times_s = [int(second) for second in re.findall(r"^ *(\d+) s  ", output, re.MULTILINE)]
    assert max(after - before for before, after in itertools.pairwise(times_s)) <= SILENCE_S


def test_the_commands_that_the_demo_shows_work(reader: Reader, output: str) -> None:
    start, tail, stop = re.findall(r"^ +(\S*kconnect'? (?:broker|topic) .*)$", output, re.MULTILINE)
    reader.type(start)
    try:
        reader.type(tail)
        assert "2024-12-31," in reader.printed
    finally:
        reader.type(stop)
    reader.type("kconnect=$PWD/.venv/bin/kconnect; $kconnect broker status --data .demo/broker || true")
    assert "No broker is running in" in reader.printed


def test_the_clone_has_no_files_that_git_does_not_know(reader: Reader) -> None:
    reader.type("git status --porcelain --untracked-files=all")
    assert reader.printed == ""
