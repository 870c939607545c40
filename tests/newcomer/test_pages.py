"""README and quickstart, typed word for word on a machine that has nothing of this project.

The packages are built from these sources, and versions are those of constraints.txt; all else is as a newcomer has it.
Each block of a page is a test, in the order of the page.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from tests.support.airflow.ui import AirflowUi
from tests.support.pages.markdown import Block
from tests.support.pages.newcomer import recorded
from tests.support.pages.page_steps import OTHERWISE, QUICKSTART, README, SERVERS, first_line, steps
from tests.support.pages.reader import Readers

STEPS = [block for page in (QUICKSTART, README) for block in steps(page) if first_line(block) not in OTHERWISE]


@pytest.mark.parametrize("block", STEPS, ids=str)
def test_the_page_is_right(block: Block, readers: Readers) -> None:
    if block.info == "text":
        readers.of(block.page).expect(block.text)
        return
    with readers.step(block.page) as reader:
        if block.file is not None:
            reader.save(block)
        elif first_line(block) in SERVERS:
            with reader.typing(block.text):
                AirflowUi(reader.airflow_url, reader.home / "airflow").run("lines")
        else:
            reader.type(block.text)


@pytest.mark.exhaustive  # Airflow starts again for it
def test_default_connections_of_airflow_are_replaced_as_the_quickstart_says(readers: Readers) -> None:
    reader = readers.of(QUICKSTART)
    delete = re.findall(r"`(airflow connections delete \w+)`", QUICKSTART.read_text(encoding="utf-8"))
    add = [block.text for block in STEPS if block.page == QUICKSTART and "airflow connections add" in block.text]
    reader.type("\n".join([*delete, "airflow connections create-default-connections", *delete, *add]))
    assert reader.printed.count("Successfully added") >= len(delete) == 2


def test_what_was_installed_is_what_was_built(wheel: Path, readers: Readers) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        built = recorded(archive.read(name).decode())
    (installed,) = readers.venv.glob(f"lib/python*/site-packages/{name}")
    assert recorded(installed.read_text()) == built
