"""`kconnect doctor` against real brokers: one that allows everything, one with an authorizer, one that is gone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.ports import free_port
from tests.support import unique
from tests.support.control import register
from tests.support.kafka import create_topic, eventually

PASSWORD = "alice-secret"
Findings = dict[str, list[dict[str, str]]]


def doctor(*arguments: object) -> tuple[int, Findings]:
    """Exit code, and the findings by their names."""
    result = CliRunner().invoke(app, ["doctor", "--no-airflow", "--json", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert PASSWORD not in result.output
    found: Findings = {}
    for finding in json.loads(result.stdout)["findings"]:
        found.setdefault(finding["name"], []).append(finding)
    return result.exit_code, found


def statuses(found: Findings, *names: str) -> list[str]:
    return [found[name][0]["status"] for name in names]


@pytest.fixture
def file(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Writes a connector's file."""

    def write(config: dict[str, Any]) -> Path:
        path = tmp_path / "connector.json"
        path.write_text(json.dumps(config))
        return path

    return write


def sink(topics: str, **more: str) -> dict[str, Any]:
    keys = {"connector.class": "FileStreamSink", "file": "/data/out", "topics": topics}
    return {"name": unique("sink"), **keys, **more}


class TestBrokerThatAllowsEverything:
    def test_there_is_no_problem(self, worker_file: Path) -> None:
        code, found = doctor("--worker", worker_file, "--transactions")
        assert code == 0
        names = ("Broker", "Broker version", "Coordinators", "Offset topic", "Config topic", "Transactions")
        assert statuses(found, *names) == ["ok"] * 6

    def test_a_topic_that_forgets_is_a_problem(self, bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> None:
        name = topic(config={"cleanup.policy": "delete"})
        worker = tmp_path / "worker.properties"
        worker.write_text(f"bootstrap.servers={bootstrap}\noffset.storage.topic={name}\n")
        code, found = doctor("--worker", worker)
        assert (code, "cleanup.policy=delete" in found["Offset topic"][0]["text"]) == (1, True)

    def test_a_config_topic_of_two_partitions_is_a_problem(
        self, bootstrap: str, topic: Callable[..., str], tmp_path: Path
    ) -> None:
        worker = tmp_path / "worker.properties"
        worker.write_text(f"bootstrap.servers={bootstrap}\nconfig.storage.topic={topic(partitions=2)}\n")
        assert "2 partitions; it must have one" in doctor("--worker", worker)[1]["Config topic"][0]["text"]

    def test_a_topic_that_cannot_be_created_is_a_problem(self, bootstrap: str, tmp_path: Path) -> None:
        worker = tmp_path / "worker.properties"
        worker.write_text(
            f"bootstrap.servers={bootstrap}\noffset.storage.topic={unique('new')}\noffset.storage.replication.factor=3\n"
        )
        found = doctor("--worker", worker)[1]["Offset topic"][0]
        assert (found["status"], "offset.storage.replication.factor" in found["cure"]) == ("problem", True)

    def test_looking_creates_no_topic(self, bootstrap: str, tmp_path: Path) -> None:
        worker, name = tmp_path / "worker.properties", unique("new")
        worker.write_text(f"bootstrap.servers={bootstrap}\noffset.storage.topic={name}\n")
        assert doctor("--worker", worker)[0] == 0
        assert name not in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=20).topics

    def test_a_registered_connector_is_checked_by_its_name(
        self, bootstrap: str, topic: Callable[..., str], worker_props: dict[str, str]
    ) -> None:
        config = sink(topic())
        register(worker_props, **{config["name"]: {key: config[key] for key in config if key != "name"}})
        _, found = doctor(config["name"], "--bootstrap-servers", bootstrap)
        assert statuses(found, "Connector configuration", "Connector topics") == ["ok", "ok"]

    def test_a_connector_that_fits(self, bootstrap: str, topic: Callable[..., str], file: Any) -> None:
        config = sink(topic(), **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": unique("dead")})
        code, found = doctor(file(config), "--bootstrap-servers", bootstrap)
        assert code == 0
        names = ("Connector configuration", "Connector topics", "Consumer group", "Dead letters")
        assert statuses(found, *names) == ["ok"] * 4

    def test_a_missing_topic_is_a_problem(self, bootstrap: str, file: Any) -> None:
        missing = unique("missing")
        found = doctor(file(sink(missing)), "--bootstrap-servers", bootstrap)[1]
        assert found["Connector topics"][0]["text"] == f"topic {missing} does not exist"

    def test_a_wrong_configuration_names_all_keys(self, bootstrap: str, file: Any) -> None:
        config = sink("t", **{"tasks.max": "many", "errors.tolerance": "some"})
        code, found = doctor(file(config), "--bootstrap-servers", bootstrap)
        keys = {finding["text"].partition(":")[0] for finding in found["Connector configuration"]}
        assert (code, keys) == (1, {"`tasks.max`", "`errors.tolerance`"})


class TestNoBroker:
    def test_a_broker_that_is_gone_is_one_problem(self) -> None:
        code, found = doctor("--bootstrap-servers", f"127.0.0.1:{free_port()}")
        assert code == 1
        assert "Connection refused" in found["Broker"][0]["text"]
        assert "kconnect broker start" in found["Broker"][0]["cure"]
        assert statuses(found, "Offset topic", "Transactions") == ["skipped"] * 2

    def test_without_a_kafka_the_machine_is_checked(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("KCONNECT_HOME", str(tmp_path))
        code, found = doctor()
        assert (code, statuses(found, "Java", "Worker configuration", "Broker")) == (0, ["ok", "skipped", "skipped"])

    def test_a_worker_file_that_is_missing_is_a_problem(self, tmp_path: Path) -> None:
        code, found = doctor("--worker", tmp_path / "none.properties")
        assert (code, "cannot read" in found["Worker configuration"][0]["text"]) == (1, True)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker on which alice may do what ACLs allow, and the plain listener everything."""
    settings = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    folder = tmp_path_factory.mktemp("strict")
    broker = EmbeddedBroker(folder, sasl_users={"alice": PASSWORD}, settings=settings)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def allow(strict: EmbeddedBroker) -> Callable[..., None]:
    """Allows alice something: `allow(ResourceType.TOPIC, "orders", "READ")`."""
    admin = AdminClient({"bootstrap.servers": strict.bootstrap})

    def add(kind: ResourceType, name: str, *operations: str) -> None:
        allowed = AclPermissionType.ALLOW
        literal = ResourcePatternType.LITERAL
        bindings = [AclBinding(kind, name, literal, "User:alice", "*", AclOperation[o], allowed) for o in operations]
        for future in admin.create_acls(bindings).values():
            future.result(20)
        any_right = AclBindingFilter(kind, name, literal, "User:alice", None, AclOperation.ANY, AclPermissionType.ANY)

        def missing() -> set[str]:
            """What the broker has accepted, and does not know yet."""
            return {*operations} - {each.operation.name for each in admin.describe_acls(any_right).result(20)}

        none: set[str] = set()
        assert eventually(missing, none) == none

    return add


@pytest.fixture
def alice(strict: EmbeddedBroker, tmp_path: Path) -> Callable[..., Path]:
    """A worker file with alice's login, and internal topics of its own."""

    def write(password: str = PASSWORD, **topics: str) -> Path:
        path = tmp_path / "worker.properties"
        keys = {
            "bootstrap.servers": strict.sasl_bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": password,
            "group.id": unique("kconnect"),
            **{f"{store}.storage.topic": name for store, name in topics.items()},
        }
        path.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
        return path

    return write


class TestRights:
    def test_a_wrong_password_is_a_problem(self, alice: Callable[..., Path]) -> None:
        code, found = doctor("--worker", alice("wrong"))
        assert (code, "authentication failed" in found["Broker"][0]["text"]) == (1, True)

    def test_nothing_allowed_names_the_rights(self, alice: Callable[..., Path]) -> None:
        offsets = unique("offsets")
        code, found = doctor("--worker", alice(offset=offsets), "--transactions")
        assert code == 1
        assert statuses(found, "Broker", "Offset topic", "Transactions") == ["ok", "problem", "problem"]
        assert f"--operation Describe --topic {offsets}" in found["Offset topic"][0]["cure"]
        assert "lacks the permission" in found["Transactions"][0]["text"]

    def test_a_right_that_is_missing_is_named(
        self, strict: EmbeddedBroker, alice: Callable[..., Path], allow: Callable[..., None]
    ) -> None:
        offsets = create_topic(strict.bootstrap, unique("offsets"), 1, {"cleanup.policy": "compact"})
        allow(ResourceType.TOPIC, offsets, "READ", "DESCRIBE_CONFIGS")
        found = doctor("--worker", alice(offset=offsets))[1]["Offset topic"][0]
        assert found["text"] == f"this principal lacks the right to WRITE on topic {offsets}"

    def test_rights_that_only_the_control_plane_needs_are_warnings(
        self, strict: EmbeddedBroker, alice: Callable[..., Path], allow: Callable[..., None]
    ) -> None:
        names = [create_topic(strict.bootstrap, unique("s"), 1, {"cleanup.policy": "compact"}) for _ in range(2)]
        for name in names:
            allow(ResourceType.TOPIC, name, "READ", "DESCRIBE_CONFIGS")
        worker = alice(config=names[0], status=names[1])
        found = doctor("--worker", worker)[1]
        assert [finding["status"] for finding in found["Config topic"]] == ["ok", "warning"]
        assert statuses(found, "Status topic") == ["warning"]
        assert f"--operation Write --topic {names[1]}" in found["Status topic"][0]["cure"]
        for name in names:
            allow(ResourceType.TOPIC, name, "WRITE")
        found = doctor("--worker", worker)[1]
        assert (statuses(found, "Config topic", "Status topic"), len(found["Config topic"])) == (["ok", "ok"], 1)

    def test_a_sink_needs_its_group_and_the_offset_topic(
        self, strict: EmbeddedBroker, alice: Callable[..., Path], allow: Callable[..., None], file: Any
    ) -> None:
        topic = create_topic(strict.bootstrap, unique("orders"))
        allow(ResourceType.TOPIC, topic, "READ")
        config = sink(topic)
        worker = alice()
        found = doctor(file(config), "--worker", worker)[1]
        assert statuses(found, "Connector topics", "Consumer group", "Offset topic") == ["ok", "problem", "problem"]
        allow(ResourceType.GROUP, f"connect-{config['name']}", "READ")
        assert statuses(doctor(file(config), "--worker", worker)[1], "Consumer group") == ["ok"]

    def test_everything_that_a_run_needs_is_enough(
        self, strict: EmbeddedBroker, alice: Callable[..., Path], allow: Callable[..., None]
    ) -> None:
        names = [create_topic(strict.bootstrap, unique("s"), 1, {"cleanup.policy": "compact"}) for _ in range(2)]
        for name in names:
            allow(ResourceType.TOPIC, name, "READ", "WRITE", "DESCRIBE_CONFIGS")
        worker = alice(offset=names[0], config=names[1])
        group = worker.read_text().partition("group.id=")[2].splitlines()[0]
        allow(ResourceType.TRANSACTIONAL_ID, f"{group}-kconnect-doctor", "DESCRIBE", "WRITE")
        code, found = doctor("--worker", worker, "--transactions")
        assert (code, statuses(found, "Transactions", "Broker version")) == (0, ["ok", "skipped"])
