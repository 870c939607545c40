"""Names of connectors as the shell completes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.integration.cli.connectors.conftest import CONFIG
from tests.support.control import register


def completed(*words: str) -> list[str]:
    """What bash is offered for the last word; asserts that nothing else is printed."""
    asking = {"_KCONNECT_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [str(Path(sys.executable).with_name("kconnect"))]
    done = subprocess.run(command, env={**os.environ, **asking}, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


def test_names_of_a_place_are_completed(place: list[str], control_file: Path) -> None:
    props = dict(line.partition("=")[::2] for line in control_file.read_text().splitlines())
    register(props, **{"complete-a": CONFIG, "complete-b": CONFIG})
    assert completed("kconnect", "describe", *place, "complete-") == ["complete-a", "complete-b"]


def test_without_a_place_nothing_is_offered(tmp_path: Path) -> None:
    gone = tmp_path / "worker.properties"
    gone.write_text("bootstrap.servers=127.0.0.1:1\n")
    assert completed("kconnect", "pause", "--worker", str(gone), "x") == []
