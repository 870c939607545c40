"""`kconnect run` with a real spark-submit where nothing is prepared: no cache, no home folder, unlucky names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support import unique
from tests.support.databases.servers import SqliteDatabase
from tests.support.kafka import read_all

pytestmark = pytest.mark.spark_submit

REPOSITORY = Path(__file__).parents[3]
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
_PREPARED = (
    "KCONNECT_CACHE",
    "HOME",
    "XDG_CACHE_HOME",
    "SPARK_HOME",
    "PYSPARK_PYTHON",
    "PYSPARK_DRIVER_PYTHON",
    "LANG",
)

Command = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where everything happens; its name has blanks and letters beyond ASCII."""
    folder = tmp_path / "my own földer"
    folder.mkdir()
    return folder


@pytest.fixture
def kconnect_run(folder: Path, worker_file: Path) -> Command:
    """Run a connector's configuration in that folder, with a home that cannot be written; the JSON that is printed."""

    def run(config: Mapping[str, str], *arguments: str, **environment: str) -> dict[str, Any]:
        (folder / "for now").mkdir(exist_ok=True)
        (folder / "connector.json").write_text(json.dumps({"name": config["name"], "config": config}))
        bare = {name: value for name, value in os.environ.items() if name not in _PREPARED}
        command = [sys.executable, "-P", "-m", "airflow_kconnect.cli", "run", "connector.json", "--json"]
        done = subprocess.run(
            [*command, "--worker", str(worker_file), "--master", "local[2]", *arguments],
            cwd=folder,
            env={
                **bare,
                "PYTHONPATH": str(REPOSITORY),
                "HOME": "/dev/null",
                "TMPDIR": str(folder / "for now"),
                "LC_ALL": "C",
                **environment,
            },
            umask=0o077,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


@pytest.mark.exhaustive  # the demo of a fresh clone reads a table with an empty cache, too
def test_a_table_is_read_with_an_empty_cache(folder: Path, kconnect_run: Command, bootstrap: str) -> None:
    database = SqliteDatabase.create(folder)
    database.execute("create table orders (id integer primary key, what text)")
    database.execute("insert into orders values (1, 'tea'), (2, 'café')")
    name = unique("jdbc")
    config = {
        "name": name,
        "connector.class": "JdbcSource",
        **database.config,
        "mode": "incrementing",
        "topic.prefix": f"{name}-",
        **JSON,
    }

    report = kconnect_run(config, KCONNECT_CACHE=str(folder / "cache"))

    assert report.get("records", report) == {
        "read": 2,
        "written": 2,
        "filtered": 0,
        "dead_lettered": 0,
        "already_done": 0,
    }
    found = [json.loads(record.value or b"")["what"] for record in read_all(bootstrap, f"{name}-orders")]
    assert sorted(found) == ["café", "tea"]


def _lines(folder: Path) -> dict[str, str]:
    (folder / "lines.txt").write_text("one\ntwo\n")
    name = unique("lines")
    file = str(folder / "lines.txt")
    config = {"name": name, "connector.class": "FileStreamSource", "file": file, "topic": name}
    return {**config, "value.converter": STRING, **NEEDS_SPARK}


def test_files_of_the_working_folder_are_not_imported(folder: Path, kconnect_run: Command, tmp_path: Path) -> None:
    for module in ("grp", "json", "random", "resource", "pandas", "airflow_kconnect"):
        (folder / f"{module}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({module!r})\n")

    report = kconnect_run(_lines(folder))

    assert report.get("records", report)["written"] == 2
    assert not (tmp_path / "imported").exists()


@pytest.mark.exhaustive  # that the error has them: tests/unit/runtime/process/test_spark_errors.py
def test_the_last_words_of_a_python_worker_are_in_the_error(folder: Path, kconnect_run: Command) -> None:
    """It ends by a file in a relative folder of the Python path, which a safe path leaves as it is."""
    (folder / "library").mkdir()
    (folder / "library" / "sitecustomize.py").write_text(
        "import sys\nif 'airflow_kconnect.runtime.worker_daemon' in sys.orig_argv:\n    raise SystemExit('no work')"
    )

    error = kconnect_run(_lines(folder), PYTHONPATH=f"library{os.pathsep}{REPOSITORY}")["error"]

    assert "a Python worker ended at its start: SystemExit: no work (File " in error["message"]
