"""A clone on a bare machine: README's commands, with empty caches and an empty home."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from tests.support.newcomer import CLONE_URL, pip_cache, repository_in
from tests.support.page_steps import README, first_line, steps
from tests.support.reader import Reader

(CLONE,) = [block for block in steps(README) if first_line(block).startswith("git clone")]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader who has typed README's commands; Git finds the project in these sources instead of at its URL."""
    folder = tmp_path_factory.mktemp("clone")
    origin = repository_in(folder / "origin")
    environment = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": CLONE_URL,
        "PIP_CACHE_DIR": pip_cache(),
    }
    reader = Reader(README, folder / "reader", environment)
    reader.type(CLONE.text)
    yield reader
    shutil.rmtree(folder, ignore_errors=True)


def test_the_demo_ends_well(demo: Reader) -> None:
    assert re.search(r"^Done in \d+ s\.", demo.printed, re.MULTILINE)


def test_the_demo_has_compared_the_output_of_both_pipelines_with_their_input(demo: Reader) -> None:
    assert len(re.findall(r"^Checked: [\d,]+ \w+ in, the same out", demo.printed, re.MULTILINE)) == 2


def test_the_clone_has_no_files_that_git_does_not_know(demo: Reader) -> None:
    demo.type("git status --porcelain --untracked-files=all")
    assert demo.printed == ""
