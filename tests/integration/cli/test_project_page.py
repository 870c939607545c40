"""The project of docs/guides/project.md: its files saved, its commands typed, in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages.markdown import REPOSITORY, Block, blocks

pytestmark = pytest.mark.timeout(600)  # it starts Spark twice, and Airflow

PAGE = blocks(REPOSITORY / "docs" / "guides" / "project.md")
COMMANDS = [block for block in PAGE if block.info == "bash"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder with all files that the page has its reader save."""
    for block in PAGE:
        if block.file is not None:
            file = tmp_path / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    return tmp_path


def _type(block: Block, folder: Path, home: Path) -> str:
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(REPOSITORY),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        ["bash", "-ec", block.text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.exhaustive
def test_the_files_pass_the_checks_of_the_page(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    said = [_type(block, project, tmp_path_factory.mktemp("airflow")) for block in COMMANDS]
    validated, previewed, tested = said
    assert "Connector orders-sink (sink) is valid." in validated
    assert '{\\"id\\":1,\\"item\\":\\"tea\\"}' in previewed
    assert "4 passed" in tested
