"""Runs of several Java connectors in one JVM, as in a job of several connectors: each as if it were alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.shared_jvms import shared_jvms
from airflow_kconnect.runs.group import GroupSpec
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run_group
from tests.support import unique
from tests.support.kafka import read_values
from tests.support.spark.jobs import command_of

Config = Callable[..., dict[str, str]]
Start = Callable[[Mapping[str, str]], "Future[RunReport]"]

_PATIENCE_S = 120


def jvms() -> list[psutil.Process]:
    """Those of this process' runs."""
    return [each for each in psutil.Process().children(recursive=True) if "py4j.GatewayServer" in command_of(each)]


@pytest.fixture
def both_plugins(hosting_worker: dict[str, str], rough_plugins: Path) -> dict[str, str]:
    """Keys of a worker that finds Kafka's own plug-ins and the one that misbehaves."""
    path = f"{hosting_worker['plugin.path']},{rough_plugins}"
    return {**hosting_worker, "plugin.path": path, "task.shutdown.graceful.timeout.ms": "1000"}


@pytest.fixture
def start(run_hosted: Callable[..., RunReport], both_plugins: dict[str, str]) -> Iterator[Start]:
    """Run a connector in a thread, next to others: `start(config)`. All JVMs have ended after the test."""
    with shared_jvms(3), ThreadPoolExecutor(3) as threads:
        yield lambda config: threads.submit(run_hosted, config, **both_plugins)
    assert jvms() == []


@pytest.fixture
def lines(tmp_path: Path, java_source: Config) -> Callable[[int], dict[str, str]]:
    """The configuration of a file source over a file of its own with a number of lines: `lines(3)`."""

    def config(count: int) -> dict[str, str]:
        file = tmp_path / unique("lines")
        file.write_text("".join(f"{file.name} {n}\n" for n in range(count)))
        return java_source(file=str(file))

    return config


def test_the_java_connectors_of_a_group_share_a_jvm_and_do_not_notice_what_fails_of_others(
    bootstrap: str,
    lines: Callable[[int], dict[str, str]],
    rough_source: Config,
    both_plugins: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[HostJvm] = []
    start_it = HostJvm.start

    def start(jvm: HostJvm) -> None:
        started.append(jvm)
        start_it(jvm)

    monkeypatch.setattr(HostJvm, "start", start)
    throwing = rough_source("throws", count=20)
    wrong = {**lines(1), "batch.size": "many"}
    # The second's name begins with the first's, as do those of its threads.
    first, second = lines(300), lines(200)
    second["name"] = f"{first['name']}-0"
    configs = (first, throwing, second, wrong)
    runs = tuple(RunSpec(config, both_plugins, run_id=unique("run")) for config in configs)
    ends = run_group(GroupSpec(runs, max_parallel=3))
    assert [end.exit_code for end in ends] == [0, 3, 0, 1]
    assert f"nothing is left of {throwing['topic']}" in str(ends[1].error)
    assert read_values(bootstrap, throwing["topic"]) == [f"0-{n}".encode() for n in range(20)]
    assert "batch.size" in str(ends[3].error)
    for end, config in ((ends[0], first), (ends[2], second)):
        expected = Path(config["file"]).read_bytes().splitlines()
        assert read_values(bootstrap, config["topic"]) == expected
        assert end.report is not None and end.report["records"]["written"] == len(expected)
    assert (len(started), jvms()) == (1, [])


def test_a_jvm_that_is_killed_fails_its_runs_as_retriable_and_the_next_run_has_another(
    bootstrap: str, lines: Callable[[int], dict[str, str]], start: Start
) -> None:
    configs = [lines(20), lines(30)]
    begun = [start({**config, "kconnect.hosted.idle.ms": "60000"}) for config in configs]
    for config in configs:
        _await(lambda topic=config["topic"]: len(read_values(bootstrap, topic)) > 0)  # type: ignore[misc]
    [jvm] = jvms()
    jvm.kill()
    for future, config in zip(begun, configs, strict=True):
        with pytest.raises(RetriableError, match=rf"connector {config['name']}: .*was ended by SIGKILL"):
            future.result()
    assert start(configs[0]).result().complete
    assert len(read_values(bootstrap, configs[0]["topic"])) == 20
    assert len(jvms()) == 1


@pytest.mark.exhaustive
def test_a_jvm_in_which_a_plug_in_hangs_takes_no_other_run_and_ends_with_the_last_of_its_runs(
    bootstrap: str, lines: Callable[[int], dict[str, str]], rough_source: Config, start: Start
) -> None:
    config = {**lines(10), "kconnect.hosted.idle.ms": "40000"}
    other = start(config)
    _await(lambda: len(read_values(bootstrap, config["topic"])) > 0)
    [old] = jvms()
    assert start(rough_source("hangs in stop")).result().incomplete == ["hung"]
    assert start(lines(10)).result().complete
    assert old.is_running() and len(jvms()) == 2
    assert other.result().complete
    _await(lambda: old not in jvms())


@pytest.mark.exhaustive
def test_a_connector_that_wants_a_jvm_of_its_own_has_one(lines: Callable[[int], dict[str, str]], start: Start) -> None:
    assert start(lines(1)).result().complete
    [shared] = jvms()
    assert start({**lines(1), "kconnect.hosted.own.jvm": "true"}).result().complete
    assert start(lines(1)).result().complete
    assert jvms() == [shared]


def _await(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
