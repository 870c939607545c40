"""Quickstart and README, typed word for word on a machine that has nothing of this project.

The packages are built from these sources, and versions are those of constraints.txt; all else is as a newcomer has it.
Each block of a page is a test, in the order of the page. One person reads both, and types once what both say.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.airflow.ui import AirflowUi
from tests.support.pages.markdown import Block
from tests.support.pages.newcomer import install_settings, recorded
from tests.support.pages.page_steps import OTHERWISE, QUICKSTART, README, SERVERS, first_line, steps
from tests.support.pages.reader import Reader


def _steps() -> Iterator[Block]:
    """Both pages, and only then the last step, which stops the broker."""
    *quickstart, last = steps(QUICKSTART)
    yield from quickstart
    known = {line for block in (*quickstart, last) if block.info == "bash" for line in block.text.splitlines()}
    for block in steps(README):
        left = [line for line in block.text.splitlines(keepends=True) if line.rstrip("\n") not in known]
        if block.info != "bash":
            yield block
        elif left and first_line(block) not in OTHERWISE:
            yield block._replace(text="".join(left))
    yield last


STEPS = list(_steps())
_failed: list[Block] = []


@pytest.fixture(scope="module")
def reader(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("reader")
    found = Reader((QUICKSTART, README), folder, install_settings(wheel))
    yield found
    found.leave()
    shutil.rmtree(folder, ignore_errors=True)  # a virtual environment takes 1 GB


def _marked(block: Block) -> object:
    """Airflow's own command; with all its processes tests/airflow/standalone runs DAGs, too."""
    return pytest.param(block, marks=pytest.mark.exhaustive) if first_line(block) in SERVERS else block


@pytest.mark.parametrize("block", map(_marked, STEPS), ids=str)
def test_the_page_is_right(block: Block, reader: Reader) -> None:
    if _failed:
        pytest.skip(f"{_failed[0]} has failed")
    if block.info == "text":
        reader.expect(block.text)
        return
    _failed.append(block)
    if block.file is not None:
        reader.save(block)
    elif first_line(block) in SERVERS:
        with reader.typing(block.text):
            AirflowUi(reader.airflow_url, reader.home / "airflow").run("lines")
    else:
        reader.type(block.text)
    _failed.clear()


@pytest.mark.exhaustive  # Airflow starts again for it
def test_default_connections_of_airflow_are_replaced_as_the_quickstart_says(reader: Reader) -> None:
    delete = re.findall(r"`(airflow connections delete \w+)`", QUICKSTART.read_text(encoding="utf-8"))
    add = [block.text for block in STEPS if block.page == QUICKSTART and "airflow connections add" in block.text]
    reader.type("\n".join([*delete, "airflow connections create-default-connections", *delete, *add]))
    assert reader.printed.count("Successfully added") >= len(delete) == 2


def test_what_was_installed_is_what_was_built(wheel: Path, reader: Reader) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        built = recorded(archive.read(name).decode())
    (installed,) = reader.work.glob(f"venv/lib/python*/site-packages/{name}")
    assert recorded(installed.read_text()) == built
