"""Taps as anyone installs them: from the package index, each in an environment of its own."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.runtime.process.session import LazySession
from tests.support.connectors.runs import Runs
from tests.support.pages.markdown import blocks

PAGE = Path(__file__).parents[4] / "docs/guides/singer-and-airbyte.md"
RunsOf = Callable[[dict[str, str]], Runs]
TAPS = ("tap-jsonl==0.3.1", "tap-csv-folder==0.0.1a1", "tap-spreadsheets==1.1.2")


@pytest.fixture
def runs_of(worker_props: dict[str, str], tmp_path: Path, spark_if_needed: LazySession) -> RunsOf:
    worker = {**worker_props, "kconnect.singer.taps.allowed": "tap-jsonl,tap-csv-folder,tap-spreadsheets"}
    return lambda keys: Runs(worker, tmp_path, spark_if_needed, {"connector.class": "SingerSource", **keys})


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


@pytest.mark.exhaustive
def test_a_killed_run_of_a_tap_with_states_that_are_not_resumable_doubles_nothing(
    runs_of: RunsOf, folder: Path
) -> None:
    runs = runs_of(orders(folder))
    write(folder / "a.jsonl", jsonl(0, 1500), at=1_700_000_000)
    runs.kill_at("during-commit")
    runs.run()
    assert Counter(runs.column("orders", "id")) == Counter(range(1500))


@pytest.mark.exhaustive
def test_files_of_comma_separated_values_are_a_stream_each(runs_of: RunsOf, folder: Path) -> None:
    keys = {"singer.tap": TAPS[1], "singer.config.path": str(folder), "singer.config.read_mode": "one_stream_per_file"}
    runs = runs_of({**keys, "singer.catalog": "none", "singer.streams": "*,!ignored"})
    for name in ("items", "shops", "ignored"):
        write(folder / f"{name}.csv", ["id,name", "1,a", "2,b"], at=1_700_000_000)
    runs.run()
    assert [runs.column(stream, "name") for stream in ("items", "shops")] == [["a", "b"], ["a", "b"]]


def test_the_first_example_of_the_page_writes_what_it_says_and_then_what_is_new(runs_of: RunsOf, folder: Path) -> None:
    first = {block.info: block.text for block in reversed(blocks(PAGE))}
    (folder / "orders.csv").write_text(first["csv"])
    config = json.loads(first["jsonc"])["config"]
    config["singer.config.files"] = config["singer.config.files"].replace("/data", str(folder))
    runs = runs_of(config)
    written = [runs.run().records["written"] for _ in range(2)]
    shown = [{name: value[name] for name in ("id", "name", "price")} for value in runs.values("orders")]
    lines = [
        f"{(record.key or b'').decode()} {json.dumps(value, separators=(',', ':'))}"
        for record, value in zip(runs.records("orders"), shown, strict=True)
    ]
    assert (written, lines) == ([3, 0], first["text"].splitlines())
    write(folder / "more.csv", ["id,name,price", "4,a bed,310.00"], at=int(time.time()) + 60)
    assert runs.run().records["written"] == 1
    assert runs.records("orders")[-1].key == b'{"id":"4"}'


def test_an_environment_is_made_once_and_has_the_tap_alone() -> None:
    folders = [each for each in (cache_folder() / "programs").glob("tap-spreadsheets-*") if each.is_dir()]
    assert folders
    assert not list(folders[0].glob("lib/python*/site-packages/airflow_kconnect*"))
