"""Java plug-ins over Connect's REST API: one warm JVM answers for all tests of this file."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.control.classes import catalogue, java_catalogue
from airflow_kconnect.control.configurations import InvalidConfigurationError, accepted
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.hosted.asking.definitions import PluginJvm
from airflow_kconnect.hosted.asking.warm import WAITING, WarmPlugins
from airflow_kconnect.hosted.installing.install import install
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.hosting.password_keys import password_keys
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.rest.access import Everything
from airflow_kconnect.rest.connect_api import plugins
from airflow_kconnect.rest.errors import RestError
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connect.java_plugins import DEBEZIUM, write_jar
from tests.support.connect.rough import rough_plugin
from tests.support.kafka import eventually
from tests.support.spark.jobs import command_of

POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
ROUGH = "kconnect.rough.RoughSource"
UNWRAP = "io.debezium.transforms.ByLogicalTableRouter"
COMPLETE = {"database.hostname": "127.0.0.1", "database.user": "u", "database.dbname": "d", "topic.prefix": "p"}


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """It finds Debezium, and a source whose key `table` has a recommender that connects to `database.port`."""
    folder = tmp_path_factory.mktemp("plugins")
    install(DEBEZIUM, folder)
    return {
        "bootstrap.servers": "localhost:9092",
        "plugin.path": f"{folder},{rough_plugin(tmp_path_factory.mktemp('rough'))}",
    }


@pytest.fixture(scope="module", autouse=True)
def warm() -> Iterator[WarmPlugins]:
    answering = WarmPlugins()
    patch = pytest.MonkeyPatch()
    patch.setattr(java_catalogue, "WARM", answering)
    yield answering
    patch.undo()
    answering.close()


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """The socket of a server that takes note of calls."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def is_called(server: socket.socket) -> bool:
    """Whether something has connected to it; the system accepts before the server does."""
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


class WriterOf(Everything):
    """Sees all connectors, and may change one."""

    def __init__(self, own: str) -> None:
        self._own = own

    def check_write(self, connector: str) -> None:
        if connector != self._own:
            raise RestError(403, f"may not change {connector}")


def jvms() -> set[int]:
    """Ids of the JVMs that this process has started for plug-ins."""
    children = psutil.Process(os.getpid()).children()
    return {child.pid for child in children if "py4j.GatewayServer" in command_of(child)}


def validated(worker: dict[str, str], config: dict[str, str]) -> dict[str, list[str]]:
    """Key -> errors."""
    keys = {"name": "c", "connector.class": POSTGRES, **config}
    answer = catalogue.validation(POSTGRES, keys, worker)
    found = {entry["value"]["name"]: entry["value"]["errors"] for entry in answer["configs"]}
    assert answer["error_count"] == sum(map(len, found.values()))
    return {key: errors for key, errors in found.items() if errors}


def test_the_list_has_java_classes_that_do_not_exist_here(worker: dict[str, str]) -> None:
    assert [each for each in catalogue.plugin_list(worker) if each["class"] == POSTGRES] == [
        {"class": POSTGRES, "type": "source", "version": "3.5.0.Final"}
    ]
    everything = catalogue.plugin_list(worker, connectors_only=False)
    names = [each["class"] for each in everything]
    assert UNWRAP in names
    # This one exists here too, and is what runs.
    assert names.count("io.debezium.transforms.ExtractNewRecordState") == 1


def test_keys_are_those_of_the_class_then_ours(worker: dict[str, str]) -> None:
    keys = [key["name"] for key in catalogue.plugin_keys("PostgresConnector", worker)]
    assert keys.index("slot.name") < keys.index("kconnect.max.records")
    assert len(keys) == len(set(keys))
    assert "database.password" in password_keys("PostgresConnector")


def test_keys_of_a_transformation(worker: dict[str, str]) -> None:
    assert "topic.regex" in [key["name"] for key in catalogue.plugin_keys(UNWRAP, worker)]


def test_a_plugin_sees_the_json_classes_of_connect(worker: dict[str, str]) -> None:
    """This converter looks for a method of Connect's by its parameters, and fails if they are of other jars."""
    name = "io.debezium.converters.CloudEventsConverter"
    assert catalogue.plugin_keys(name, worker) == []


def test_a_name_that_nothing_has(worker: dict[str, str]) -> None:
    with pytest.raises(NotFoundError, match=r"Unknown plugin a\.b\.C"):
        catalogue.plugin_keys("a.b.C", worker)


def test_errors_of_the_class_of_connect_and_of_our_keys_at_once(worker: dict[str, str]) -> None:
    keys = {"tasks.max": "x", "kconnect.max.records": "y", "transforms": "a", "transforms.a.type": "no.such.Class"}
    errors = validated(worker, {**keys, "snapshot.mode": "sometimes"})
    assert {"tasks.max", "kconnect.max.records", "transforms.a.type", "snapshot.mode", "topic.prefix"} <= errors.keys()
    assert "Class no.such.Class could not be found" in errors["transforms.a.type"][0]


def test_the_class_itself_is_asked_which_tries_to_connect(worker: dict[str, str]) -> None:
    errors = validated(worker, {**COMPLETE, "database.port": "1", "database.password": "p"})
    assert list(errors) == ["database.hostname"]
    assert "Connection to 127.0.0.1:1 refused" in errors["database.hostname"][0]


def test_with_a_variable_only_keys_are_checked_and_nothing_connects(worker: dict[str, str]) -> None:
    config = {**COMPLETE, "database.port": "1", "database.password": "${env:PASSWORD}", "max.batch.size": "many"}
    assert list(validated(worker, config)) == ["max.batch.size"]


def test_keys_are_checked_without_the_recommenders_of_a_class_which_connect(
    worker: dict[str, str], listening: socket.socket
) -> None:
    port = listening.getsockname()[1]
    config = {"name": "c", "connector.class": ROUGH, "database.port": str(port), "count": "many"}
    with pytest.raises(InvalidConfigurationError, match="Invalid value many for configuration count"):
        accepted("c", config, {}, worker)
    catalogue.validation(ROUGH, {**config, "mode": "${env:MODE}"}, worker)
    assert not is_called(listening)
    catalogue.validation(ROUGH, config, worker)
    assert is_called(listening)


def test_a_class_validates_only_for_those_who_may_change_the_connector(
    worker: dict[str, str], listening: socket.socket
) -> None:
    config = {"name": "mine", "connector.class": ROUGH, "database.port": str(listening.getsockname()[1])}
    plane: Any = SimpleNamespace(worker_props=worker)
    bodies = [{**config, "name": "another's"}, {key: text for key, text in config.items() if key != "name"}]
    for body in bodies:
        answer = plugins.validate(ROUGH, plane, WriterOf("mine"), body)
        assert "count" not in [entry["value"]["name"] for entry in answer["configs"]]
    assert not is_called(listening)
    answer = plugins.validate(ROUGH, plane, WriterOf("mine"), config)
    assert "count" in [entry["value"]["name"] for entry in answer["configs"]]
    assert is_called(listening)


def test_the_class_that_is_asked_must_be_that_of_the_configuration(worker: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="does not match request type"):
        catalogue.validation("a.Other", {"name": "c", "connector.class": POSTGRES}, worker)


def test_one_jvm_answers_until_the_plugins_change(worker: dict[str, str]) -> None:
    validated(worker, {})
    assert eventually(lambda: len(jvms()), 1) == 1  # the one before ends meanwhile
    before = jvms()
    validated(worker, {})
    assert jvms() == before
    folder = Path(worker["plugin.path"].partition(",")[0])
    write_jar(folder / "another" / "another-1.0.jar", {"a": "b"})
    validated(worker, {})
    assert jvms() != before


def test_a_configuration_can_be_registered_if_its_class_accepts_the_keys(worker: dict[str, str]) -> None:
    config = {"connector.class": POSTGRES, **COMPLETE}
    assert accepted("c", config, {}, worker)["topic.prefix"] == "p"
    with pytest.raises(InvalidConfigurationError, match=r"database\.port"):
        accepted("c", {**config, "database.port": "x"}, {}, worker)


def test_without_java_what_is_known_without_it_is_checked(
    worker: dict[str, str], warm: WarmPlugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_java(*_: Any) -> None:
        raise SetupError("No Java was found")

    monkeypatch.setattr(warm, "ask", no_java)
    assert list(validated(worker, {"kconnect.max.records": "y", "snapshot.mode": "x"})) == ["kconnect.max.records"]


def test_a_question_whose_jvm_dies_is_asked_again_and_so_is_one_that_waits_behind_it(
    worker: dict[str, str], warm: WarmPlugins
) -> None:
    def ask(question: Callable[[PluginJvm], int]) -> int:
        return warm.ask(java_plugins(known), known, question)

    def keys(jvm: PluginJvm) -> int:
        return len(jvm.keys(POSTGRES))

    def killing(jvm: PluginJvm) -> int:
        if not killed:
            killed.update(jvms())
            behind.append(pool.submit(ask, keys))
            eventually(lambda: warm._host is not None and warm._host._questions.qsize(), 1)
            for pid in killed:
                psutil.Process(pid).kill()
        return keys(jvm)

    known, killed, behind = WorkerConfig.from_props(worker), set[int](), list[Future[int]]()
    with ThreadPoolExecutor(1) as pool:
        assert ask(killing) == behind[0].result() > 50
    assert len(killed) == 1 and jvms().isdisjoint(killed)


def test_a_question_that_ends_every_jvm_is_an_error_after_the_second(worker: dict[str, str], warm: WarmPlugins) -> None:
    def killing(jvm: PluginJvm) -> None:
        killed.update(jvms())
        for pid in jvms():
            psutil.Process(pid).kill()
        jvm.keys(POSTGRES)

    known, killed = WorkerConfig.from_props(worker), set[int]()
    with pytest.raises(RetriableError, match="Java was ended by SIGKILL"):
        warm.ask(java_plugins(known), known, killing)
    assert len(killed) == 2


def test_few_questions_wait_and_none_waits_for_long(worker: dict[str, str], warm: WarmPlugins) -> None:
    """A plug-in that is slow keeps no thread of other requests for long."""

    def ask(question: Callable[[PluginJvm], int], patience_s: float = 60) -> int:
        return warm.ask(java_plugins(known), known, question, patience_s=patience_s)

    def slow(_: PluginJvm) -> int:
        started.set()
        answered.wait(60)
        return 1

    def late(jvm: PluginJvm) -> int:
        asked_late.append(jvm)
        return 2

    known, started, answered = WorkerConfig.from_props(worker), threading.Event(), threading.Event()
    asked_late = list[PluginJvm]()
    with ThreadPoolExecutor(1 + WAITING) as pool:
        first = pool.submit(ask, slow)
        assert started.wait(60)
        with pytest.raises(RetriableError, match="did not answer in time"):
            ask(late, patience_s=0.1)
        waiting = [pool.submit(ask, lambda _: 3) for _ in range(WAITING)]
        eventually(lambda: warm._host is not None and warm._host._questions.qsize(), 1 + WAITING)
        with pytest.raises(RetriableError, match="one question at a time, and 4 others wait"):
            ask(lambda _: 4)
        answered.set()
        assert [first.result(), *(each.result() for each in waiting)] == [1, *[3] * WAITING]
    assert not asked_late
