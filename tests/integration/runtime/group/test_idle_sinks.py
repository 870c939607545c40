"""Sinks of a group that have nothing new: they get the report of a run, and what is unusual is left to a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.runtime.group import idle_sinks
from airflow_kconnect.runtime.group.idle import looked_at, tell_idle
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import STRING, Run
from tests.integration.runtime.group.idle_members import as_told, member
from tests.support import unique
from tests.support.kafka import add_partitions, create_topic, delete_topic, produce
from tests.support.positions import commit

MakeSink = Callable[..., dict[str, str]]


@pytest.fixture
def sink(tmp_path: Path) -> MakeSink:
    """The configuration of a file sink."""

    def config(topics: str, **more: str) -> dict[str, str]:
        name = unique("sink")
        file = str(tmp_path / f"{name}.txt")
        given = {"name": name, "connector.class": "FileStreamSink", "topics": topics, "file": file}
        return {**given, "value.converter": STRING, **more}

    return config


def test_the_report_is_that_of_a_run(
    run_here: Run, sink: MakeSink, topic: Callable[..., str], bootstrap: str, worker_props: dict[str, str]
) -> None:
    first, second = topic(partitions=2), topic()
    produce(bootstrap, first, ["a", "b"])
    config = sink(f"{second},{first}")
    run_here(config)
    looked = member(config, worker_props)
    report = looked_at([looked]).reports[config["name"]]
    assert report.run_id == looked.spec.run_id
    assert as_told(report) == as_told(run_here(config))


def test_those_with_new_records_are_run(
    run_here: Run, sink: MakeSink, topic: Callable[..., str], bootstrap: str, worker_props: dict[str, str]
) -> None:
    quiet, busy = topic(), topic()
    produce(bootstrap, quiet, ["a"])
    configs = [sink(quiet), sink(busy), sink(topic())]
    for config in configs[:2]:
        run_here(config)
    produce(bootstrap, busy, ["b"])
    assert list(looked_at([member(config, worker_props) for config in configs]).reports) == [configs[0]["name"]]


def test_statuses_and_entries_are_those_of_runs(
    run_here: Run, sink: MakeSink, topic: Callable[..., str], bootstrap: str, worker_props: dict[str, str]
) -> None:
    statuses = {"status.storage.topic": unique("status")}
    of_runs, of_looks = topic(), topic()
    configs = [sink(of_runs), sink(of_looks)]
    for config in configs:
        run_here(config, **statuses)
    run_here(configs[0], **statuses)
    looked = [member(configs[1], {**worker_props, **statuses})]
    tell_idle(looked, looked_at(looked).reports)
    store = StatusStore(WorkerConfig.from_props({"bootstrap.servers": bootstrap, **statuses}))
    store.refresh()
    of_run, of_look = [
        [(run.state, run.complete, run.records) for run in runs.runs]
        for config in configs
        if (runs := store.runs(config["name"])) is not None
    ]
    assert of_look == of_run
    assert len(of_look) == 2
    assert store.connector(configs[0]["name"]).status == store.connector(configs[1]["name"]).status


@pytest.mark.parametrize(
    "spoil",
    ["offset of another tool", "lost offsets", "created again", "old", "new partition", "no target", "warning"],
)
def test_of_what_is_unusual_a_run_decides(
    spoil: str,
    run_here: Run,
    sink: MakeSink,
    topic: Callable[..., str],
    bootstrap: str,
    worker_props: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = topic()
    config = sink(name)
    run_here(config)
    assert looked_at([member(config, worker_props)]).reports
    group = f"connect-{config['name']}"
    match spoil:
        case "offset of another tool":
            commit(bootstrap, group, {(name, 0): 0})
        case "lost offsets":
            GroupAdmin({"bootstrap.servers": bootstrap}).delete_group(group)
        case "created again":
            delete_topic(bootstrap, name)
            create_topic(bootstrap, name)
        case "old":
            monkeypatch.setattr(idle_sinks, "FRESH_MS", -1)
        case "new partition":
            add_partitions(bootstrap, name, 2)
        case "no target":
            config = {**config, "file": f"{config['file']}/none/out.txt"}
        case "warning":
            config = {**config, "kconnect.fail.on.warning": "all", "unheard.of": "1"}
    assert looked_at([member(config, worker_props)]).reports == {}
