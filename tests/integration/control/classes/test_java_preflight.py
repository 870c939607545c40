"""Keys of a Java connector, checked with its class before a job is submitted to a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.classes.java_preflight import check_java_keys
from airflow_kconnect.hosted.asking.warm import WARM
from tests.support.connect.hosted import FILE, plugin_folder

COMPLETE = {
    "name": "lines",
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "kconnect.hosted": "true",
    "file": "/tmp/in.txt",
    "topic": "lines",
}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plugin_folder(tmp_path_factory.mktemp("plugins"), FILE)


@pytest.fixture
def worker(plugins: Path) -> dict[str, str]:
    return {"bootstrap.servers": "localhost:9", "plugin.path": str(plugins)}


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what was found right; what was downloaded before is there."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for each in java_cache().iterdir():
        (cache / each.name).symlink_to(each)
    monkeypatch.setenv("KCONNECT_CACHE", str(cache))
    return cache / "checked"


def java_cache() -> Path:
    from airflow_kconnect.machine.cache import cache_folder

    return cache_folder()


def test_the_class_names_all_wrong_keys(worker: dict[str, str], checked: Path) -> None:
    config = {**COMPLETE, "batch.size": "many"}
    del config["topic"]
    with pytest.raises(ConfigError) as caught:
        check_java_keys(config, worker, "source")
    assert set(caught.value.errors) == {"topic", "batch.size"}
    assert not checked.exists()


def test_what_was_right_needs_no_java_again(
    worker: dict[str, str], checked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_java_keys({**COMPLETE, "some.password": "one"}, worker, "source")
    assert len(list(checked.iterdir())) == 1
    monkeypatch.setattr(WARM, "ask", None)
    check_java_keys({**COMPLETE, "some.password": "two"}, worker, "source")
    with pytest.raises(TypeError):
        check_java_keys({**COMPLETE, "topic": "others"}, worker, "source")


def test_values_of_variables_are_left_to_the_job(worker: dict[str, str], checked: Path) -> None:
    check_java_keys({**COMPLETE, "batch.size": "${file:/secret.properties:size}"}, worker, "source")


def test_a_class_that_is_not_here_is_left_to_the_job(tmp_path: Path, checked: Path) -> None:
    there = {"bootstrap.servers": "localhost:9", "plugin.path": str(tmp_path)}
    check_java_keys({**COMPLETE, "connector.class": "org.example.Elsewhere"}, there, "source")


def test_without_java_the_job_checks(worker: dict[str, str], checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    check_java_keys({**COMPLETE, "batch.size": "many"}, worker, "source")
    assert not checked.exists()
