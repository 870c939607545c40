"""The files of an embedded broker's data folder: their names and contents."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.local.ports import LOOPBACK
from airflow_kconnect.machine.errors import SetupError

LOG4J2 = """\
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
"""

# One node: nothing can be replicated, and there are no other members to wait for. Small internal topics start faster.
_ONE_NODE = {
    "num.partitions": "1",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "5",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    # After a crash the node is admitted again once its former self has timed out: 9 s by default.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # A record twice a second tells other nodes that the controller is alive: there are none, and it never rests.
    "metadata.max.idle.interval.ms": "0",
    "log.cleaner.dedupe.buffer.size": "16777216",
}
_BACKSLASH = "\\"


@dataclass(frozen=True)
class Ports:
    """Where the broker listens, on the loopback address.

    :param sasl: port of the listener that requires user and password; None if there is none.
    """

    broker: int
    controller: int
    sasl: int | None = None


@dataclass(frozen=True)
class DataFolder:
    """The data folder of one broker."""

    path: Path

    @property
    def server_properties(self) -> Path:
        return self.path / "server.properties"

    @property
    def worker_properties(self) -> Path:
        return self.path / "worker.properties"

    @property
    def log4j2(self) -> Path:
        return self.path / "log4j2.properties"

    @property
    def kafka_logs(self) -> Path:
        return self.path / "kafka-logs"

    @property
    def lock(self) -> Path:
        return self.path / ".lock"

    @property
    def is_formatted(self) -> bool:
        """Whether Kafka's storage was formatted."""
        return (self.kafka_logs / "meta.properties").is_file()

    def cluster_id(self) -> str:
        """The id of the cluster in this folder; generates one for an empty folder.

        :raises SetupError: the folder contains something else, or the storage of another cluster.
        """
        ours = self.path / "cluster.id"
        if not ours.is_file():
            if set(self.path.iterdir()) - {self.lock}:
                raise SetupError(
                    f"{self.path} is not empty and was not made by this command: choose another data folder."
                )
            ours.write_text(_new_cluster_id())
        cluster_id = ours.read_text().strip()
        stored_id = properties(self.kafka_logs / "meta.properties").get("cluster.id", cluster_id)
        if stored_id != cluster_id:
            raise SetupError(
                f"{self.kafka_logs} belongs to another cluster ({stored_id}, expected {cluster_id}): "
                "choose another data folder, or remove this one."
            )
        return cluster_id

    def ports(self) -> Ports | None:
        """The ports of the last start; None if the broker was never started."""
        listeners = properties(self.server_properties).get("listeners", "")
        by_name = {
            address.partition(":")[0]: int(address.rpartition(":")[2]) for address in listeners.split(",") if address
        }
        if "PLAINTEXT" not in by_name:
            return None
        return Ports(by_name["PLAINTEXT"], by_name["CONTROLLER"], by_name.get("SASL"))

    def write(self, ports: Ports, users: Mapping[str, str], settings: Mapping[str, str]) -> None:
        """Write everything that the broker and a worker read."""
        self.log4j2.write_text(LOG4J2)
        # It may contain passwords.
        self.server_properties.touch(mode=0o600)
        self.server_properties.write_text(properties_text(_server(self, ports) | _sasl(ports, users) | dict(settings)))
        self.worker_properties.write_text(properties_text(worker_config(f"{LOOPBACK}:{ports.broker}")))


def worker_config(bootstrap: str) -> dict[str, str]:
    """Worker properties for a broker; a worker of Connect itself also needs replication factors for a single node."""
    return {
        "bootstrap.servers": bootstrap,
        "group.id": "kconnect",
        "exactly.once.source.support": "enabled",
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "offset.storage.topic": "connect-offsets",
        "config.storage.topic": "connect-configs",
        "status.storage.topic": "connect-status",
    }


def _server(folder: DataFolder, ports: Ports) -> dict[str, str]:
    listeners = {"PLAINTEXT": ports.broker, "SASL": ports.sasl, "CONTROLLER": ports.controller}
    addresses = {name: f"{name}://{LOOPBACK}:{port}" for name, port in listeners.items() if port is not None}
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        # A static voter, unlike a dynamic one, may have another port at the next start.
        "controller.quorum.voters": f"1@{LOOPBACK}:{ports.controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(text for name, text in addresses.items() if name != "CONTROLLER"),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
        "log.dirs": str(folder.kafka_logs),
        **_ONE_NODE,
    }


def _sasl(ports: Ports, users: Mapping[str, str]) -> dict[str, str]:
    if ports.sasl is None:
        return {}
    known = " ".join(f"user_{name}={_quoted(password)}" for name, password in users.items())
    return {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"
        ),
    }


def _new_cluster_id() -> str:
    raw = secrets.token_bytes(16)
    # The first character must not be a hyphen: command lines would mistake the id for an option.
    return base64.urlsafe_b64encode(bytes([raw[0] & 0x7F]) + raw[1:]).decode().rstrip("=")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def properties_text(config: Mapping[str, str]) -> str:
    """A properties file as text."""
    lines = [f"{key}={value.replace(_BACKSLASH, _BACKSLASH * 2)}" for key, value in config.items()]
    return "\n".join(["# Written at each start: copy it before you change it.", *lines, ""])


def properties(path: Path) -> dict[str, str]:
    """The keys and values of a simple properties file, {} if there is none."""
    if not path.is_file():
        return {}
    lines = (line.partition("=") for line in path.read_text().splitlines() if not line.startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in lines if equals}
