"""Logs that are rotated between runs, and while a plan is unfinished."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import DataError
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique
from tests.support.kafka import read_values


@pytest.fixture
def config(tmp_path: Path) -> dict[str, str]:
    name = unique("rotated")
    return {
        "name": name,
        "connector.class": "FileStreamSource",
        "files": f"{tmp_path}/app.log*",
        "topic": f"t-{name}",
        "value.converter": STRING,
    }


def _rotate(folder: Path) -> None:
    for number in (1, 0):
        old = folder / ("app.log" + (f".{number}" if number else ""))
        if old.exists():
            old.rename(folder / f"app.log.{number + 1}")


def _sorted(bootstrap: str, topic: str) -> list[bytes]:
    return sorted(value or b"" for value in read_values(bootstrap, topic))


def test_each_line_is_read_once_whatever_name_its_file_has(
    config: dict[str, str], tmp_path: Path, run_here: Run, bootstrap: str
) -> None:
    for turn, late in enumerate(["late\n", "", "later\n"]):
        (tmp_path / "app.log").write_text(f"{turn}\n")
        run_here(config)
        with (tmp_path / "app.log").open("a") as file:
            file.write(late)
        _rotate(tmp_path)
    last = run_here(config)
    assert _sorted(bootstrap, config["topic"]) == [b"0", b"1", b"2", b"late", b"later"]
    assert run_here(config).splits == 0 < last.splits


def test_unfinished_plan_is_finished_under_the_new_name(
    config: dict[str, str], tmp_path: Path, run_here: Run, bootstrap: str
) -> None:
    """The first of its splits has failed, the second one is done."""
    lines = ["x" * 5000, *(f"line-{n}" for n in range(2000))]
    (tmp_path / "app.log").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(DataError, match=r"max\.line\.bytes"):
        run_here({**config, "split.bytes": "10000", "kconnect.splits.max": "2", "max.line.bytes": "1000"})
    _rotate(tmp_path)
    (tmp_path / "app.log").write_text("new\n")
    run_here(config)
    run_here(config)
    expected = sorted(line.encode() for line in [*lines, "new"])
    assert _sorted(bootstrap, config["topic"]) == expected
