"""Connectors of a group, run in one process over the shared session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runs.group import GroupSpec, MemberEnd
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run_group
from tests.integration.runtime.conftest import STRING, Source
from tests.support import unique
from tests.support.kafka import read_values

Group = Callable[..., dict[str, MemberEnd]]


@pytest.fixture
def group_here(spark: SparkSession, worker_props: dict[str, str]) -> Group:
    """Run connectors as a group in the shared session: `group_here(config, config, ..., max_parallel=2)`."""

    def go(*configs: dict[str, str], max_parallel: int = 4) -> dict[str, MemberEnd]:
        runs = tuple(RunSpec(config, worker_props, run_id=unique("run")) for config in configs)
        return {end.connector: end for end in run_group(GroupSpec(runs, max_parallel), spark)}

    return go


@pytest.fixture
def source(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """A file source over a file of its own with this number of lines."""

    def config(lines: int, **more: str) -> dict[str, str]:
        name = unique("source")
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}-{n}\n" for n in range(lines)))
        return {
            "name": name,
            "connector.class": "FileStreamSource",
            "file": str(tmp_path / f"{name}.txt"),
            "topic": f"t-{name}",
            "value.converter": STRING,
            **more,
        }

    return config


HOISTED = {"transforms": "wrap", "transforms.wrap.type": "HoistField$Value", "transforms.wrap.field": "line"}


def test_each_moves_its_own_records_and_has_its_own_report_and_events(
    group_here: Group, source: Source, bootstrap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configs = [source(10), *(source(11 + n, **HOISTED) for n in range(3))]
    names, expected = [config["name"] for config in configs], [10, 11, 12, 13]
    ends = group_here(*configs)
    assert [len(read_values(bootstrap, config["topic"])) for config in configs] == expected
    assert [(ends[name].report or {})["records"]["written"] for name in names] == expected
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("KCONNECT ")]
    events = [json.loads(line[line.index("{") :]) for line in lines]
    assert {event["connector"] for event in events} == set(names)


def test_a_wrong_one_fails_alone(group_here: Group, source: Source) -> None:
    good, bad = source(3), source(3, file="/does/not/exist")
    ends = group_here(good, bad)
    assert (ends[good["name"]].exit_code, ends[bad["name"]].exit_code) == (0, 1)


def test_what_a_source_has_just_written_its_sink_reads(group_here: Group, source: Source, tmp_path: Path) -> None:
    read = source(4)
    write = {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "file": str(tmp_path / "out.txt"),
        "topics": read["topic"],
        "value.converter": STRING,
    }
    group_here(write, read)
    assert (tmp_path / "out.txt").read_text().splitlines() == [f"{read['name']}-{n}" for n in range(4)]


def test_one_connectors_secret_is_hidden_in_the_error_of_another(
    group_here: Group, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCONNECT_CANARY", "/canary-of-another")
    keeper = source(1, **{"topic.creation.default.partitions": "-1", "topic": "${env:KCONNECT_CANARY}"})
    teller = source(1, file="/canary-of-another")
    ends = group_here(keeper, teller, max_parallel=1)
    assert "canary" not in json.dumps([end.error for end in ends.values()])


def test_what_has_nothing_new_is_not_run(group_here: Group, source: Source) -> None:
    still, growing = source(3), source(3)
    group_here(still, growing)
    with Path(growing["file"]).open("a") as out:
        out.write("one more\n")
    ends = group_here(still, growing)
    reports = [ends[config["name"]].report or {} for config in (still, growing)]
    assert [report["records"]["written"] for report in reports] == [0, 1]
    assert ["fencing" in report["durations_s"] for report in reports] == [False, True]
