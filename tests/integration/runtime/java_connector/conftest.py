"""Hosted connectors for tests: Kafka's own Java classes, below a `plugin.path`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.hosted.shared_jvms import shared_jvms
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.connect.hosted import FILE, TEST_PLUGINS, plugin_folder
from tests.support.connect.rough import rough_plugin

STRING = "org.apache.kafka.connect.storage.StringConverter"

Run = Callable[..., RunReport]


@pytest.fixture(scope="session")
def plugin_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-ins connect-file and connect-test-plugins."""
    return plugin_folder(tmp_path_factory.mktemp("plugins"), FILE, TEST_PLUGINS)


@pytest.fixture(scope="module")
def one_jvm() -> Iterator[None]:
    """The runs of a file share a JVM, as those of a group do: for tests that look at what a run moves."""
    with shared_jvms(1):
        yield


@pytest.fixture
def hosting_worker(worker_props: dict[str, str], plugin_path: Path) -> dict[str, str]:
    """Keys of a worker that finds these plug-ins."""
    return {**worker_props, "plugin.path": str(plugin_path)}


@pytest.fixture
def run_hosted(hosting_worker: dict[str, str]) -> Run:
    """Run a connector in this process: `run_hosted(config, **worker_keys)`."""

    def go(
        config: Mapping[str, str],
        *,
        dry_run: bool = False,
        interval: Replay | None = None,
        dead_letters: bool = False,
        **worker: str,
    ) -> RunReport:
        spec = RunSpec(
            dict(config),
            {**hosting_worker, **worker},
            run_id=unique("run"),
            dry_run=dry_run,
            replay=interval,
            replay_dead_letters=dead_letters,
        )
        return run(spec)

    return go


@pytest.fixture
def java_source(numbered: object, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The configuration of Kafka's Java file source over `numbered`, with a topic of its own."""

    def config(**more: str) -> dict[str, str]:
        name = unique("source")
        return {
            "name": name,
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "kconnect.hosted": "true",
            "kconnect.hosted.idle.ms": "1000",
            "file": str(tmp_path / "in.txt"),
            "topic": f"t-{name}",
            "value.converter": STRING,
            **{key.replace("_", "."): text for key, text in more.items()},
        }

    return config


@pytest.fixture
def java_sink(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The configuration of Kafka's Java file sink: `java_sink(topic)` writes to `out.txt`."""

    def config(topic: str, **more: str) -> dict[str, str]:
        return {
            "name": unique("sink"),
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "kconnect.hosted": "true",
            "file": str(tmp_path / "out.txt"),
            "topics": topic,
            "key.converter": STRING,
            "value.converter": STRING,
            **{key.replace("_", "."): text for key, text in more.items()},
        }

    return config


@pytest.fixture(scope="session")
def rough_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for `plugin.path` with the plug-in that misbehaves."""
    return rough_plugin(tmp_path_factory.mktemp("rough"))


@pytest.fixture
def run_rough(run_hosted: Run, rough_plugins: Path) -> Run:
    """Run a connector that misbehaves: `run_rough(config, **worker_keys)`."""

    def go(config: Mapping[str, str], *, interval: Replay | None = None, **worker: str) -> RunReport:
        keys = {"plugin.path": str(rough_plugins), "task.shutdown.graceful.timeout.ms": "1000", **worker}
        return run_hosted(config, interval=interval, **keys)

    return go


@pytest.fixture
def rough_source() -> Callable[..., dict[str, str]]:
    """The configuration of a source of numbered records: `rough_source("throws", count=10)`."""

    def config(mode: str, count: int = 30, **more: str) -> dict[str, str]:
        name = unique("rough")
        return {
            "name": name,
            "connector.class": "kconnect.rough.RoughSource",
            "kconnect.hosted.idle.ms": "1000",
            "mode": mode,
            "count": str(count),
            "topic": f"t-{name}",
            "value.converter": STRING,
            **{key.replace("_", "."): text for key, text in more.items()},
        }

    return config


@pytest.fixture
def rough_sink(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The configuration of a sink that appends to `out.txt`: `rough_sink("rewinds", topic)`."""

    def config(mode: str, topic: str, **more: str) -> dict[str, str]:
        return {
            "name": unique("rough"),
            "connector.class": "kconnect.rough.RoughSink",
            "mode": mode,
            "file": str(tmp_path / "out.txt"),
            "topics": topic,
            "key.converter": STRING,
            "value.converter": STRING,
            **{key.replace("_", "."): text for key, text in more.items()},
        }

    return config
