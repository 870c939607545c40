"""Taps as anyone installs them: from the package index, each in an environment of its own."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.machine.cache import cache_folder
from tests.support import unique
from tests.support.kafka import read_all
from tests.support.spark.jobs import kill_job_at, start_job

PAGE = Path(__file__).parents[4] / "docs/guides/singer-and-airbyte.md"
JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMALESS = {
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}
TAPS = ("tap-jsonl==0.3.1", "tap-csv-folder==0.0.1a1", "tap-spreadsheets==1.1.2")


class Runs:
    """Jobs of a connector."""

    def __init__(self, worker: dict[str, str], bootstrap: str, folder: Path, keys: dict[str, str]) -> None:
        self.name, self._bootstrap, self._folder = unique("tap"), bootstrap, folder / "jobs"
        self._worker = {**worker, "kconnect.singer.taps.allowed": "tap-jsonl,tap-csv-folder,tap-spreadsheets"}
        self._config = {
            "connector.class": "SingerSource",
            "transaction.boundary.interval.ms": "100",
            **SCHEMALESS,
            **keys,
            "name": self.name,
            "topic.prefix": f"{self.name}.",
        }

    def run(self) -> dict[str, Any]:
        job = start_job(self._config, self._worker, self._folder)
        assert job.wait(400) == 0, job.text()
        report = job.report()
        job.close()
        return report

    def kill_at(self, point: str) -> None:
        kill_job_at(point, self._config, self._worker, self._folder)

    def keys(self, stream: str) -> list[str]:
        return [(each.key or b"").decode() for each in read_all(self._bootstrap, f"{self.name}.{stream}")]

    def values(self, stream: str) -> list[dict[str, Any]]:
        return [json.loads(each.value or b"") for each in read_all(self._bootstrap, f"{self.name}.{stream}")]


def write(path: Path, lines: list[str], at: int) -> None:
    """A file of which the time of change is known: taps of files have it as their bookmark."""
    path.write_text("\n".join(lines) + "\n")
    os.utime(path, (at, at))


def jsonl(first: int, last: int) -> list[str]:
    return [json.dumps({"id": n, "price": n / 2}) for n in range(first, last)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (made := tmp_path / "files").mkdir()
    return made


def orders(folder: Path) -> dict[str, str]:
    return {
        "singer.tap": TAPS[0],
        "singer.config.path": f"{folder}/*.jsonl",
        "singer.config.stream_name": "orders",
        "singer.config.primary_keys": '["id"]',
        "singer.config.emit_state_every": "10",
    }


def test_a_killed_run_of_a_tap_with_states_that_are_not_resumable_doubles_nothing(
    worker_props: dict[str, str], bootstrap: str, tmp_path: Path, folder: Path
) -> None:
    runs = Runs(worker_props, bootstrap, tmp_path, orders(folder))
    write(folder / "a.jsonl", jsonl(0, 1500), at=1_700_000_000)
    runs.kill_at("during-commit")
    runs.run()
    assert Counter(value["id"] for value in runs.values("orders")) == Counter(range(1500))


def test_files_of_comma_separated_values_are_a_stream_each(
    worker_props: dict[str, str], bootstrap: str, tmp_path: Path, folder: Path
) -> None:
    keys = {"singer.tap": TAPS[1], "singer.config.path": str(folder), "singer.config.read_mode": "one_stream_per_file"}
    keys |= {"singer.catalog": "none", "singer.streams": "*,!ignored"}
    runs = Runs(worker_props, bootstrap, tmp_path, keys)
    for name in ("items", "shops", "ignored"):
        write(folder / f"{name}.csv", ["id,name", "1,a", "2,b"], at=1_700_000_000)
    runs.run()
    found = {stream: [value["name"] for value in runs.values(stream)] for stream in ("items", "shops")}
    assert found == {"items": ["a", "b"], "shops": ["a", "b"]}


def test_the_next_run_reads_the_spreadsheets_that_are_new(
    worker_props: dict[str, str], bootstrap: str, tmp_path: Path, folder: Path
) -> None:
    files = [{"path": f"{folder}/*.csv", "format": "csv", "table_name": "items", "primary_keys": ["id"]}]
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"files": files}))
    runs = Runs(worker_props, bootstrap, tmp_path, {"singer.tap": TAPS[2], "singer.config.file": str(config)})
    write(folder / "a.csv", ["id,name", "1,a", "2,b"], at=1_700_000_000)
    runs.kill_at("during-commit")
    runs.run()
    write(folder / "b.csv", ["id,name", "3,c"], at=1_700_000_100)
    runs.run()
    assert runs.keys("items") == ['{"id":"1"}', '{"id":"2"}', '{"id":"3"}']


def test_an_environment_is_made_once_and_has_the_tap_alone() -> None:
    folders = [each for each in (cache_folder() / "programs").glob("tap-jsonl-*") if each.is_dir()]
    assert folders
    assert not list(folders[0].glob("lib/python*/site-packages/airflow_kconnect*"))


def block(language: str) -> str:
    """The first block of code in a language of the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_first_example_of_the_page_writes_what_the_page_says(
    worker_props: dict[str, str], bootstrap: str, tmp_path: Path, folder: Path
) -> None:
    (folder / "orders.csv").write_text(block("csv"))
    config = json.loads(block("jsonc"))["config"]
    config["singer.config.files"] = config["singer.config.files"].replace("/data", str(folder))
    runs = Runs(worker_props, bootstrap, tmp_path, config)
    written = [runs.run()["records"]["written"] for _ in range(2)]
    lines = [
        f"{key} {json.dumps({name: value[name] for name in ('id', 'name', 'price')}, separators=(',', ':'))}"
        for key, value in zip(runs.keys("orders"), runs.values("orders"), strict=True)
    ]
    assert (written, lines) == ([3, 0], block("text").splitlines())
