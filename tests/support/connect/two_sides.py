"""A Connect cluster and a worker of ours in memory, both of which run one source, and fail wherever a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.migration.assessment import assess
from airflow_kconnect.migration.cluster import ConnectCluster, ConnectorThere
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.migration.here import Here
from airflow_kconnect.migration.survey import Candidate
from airflow_kconnect.stores.handovers import Handover

CONFIG = {
    "name": "c",
    "connector.class": "FileStreamSource",
    "file": "/in",
    "topic": "t",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}
_ASSESSMENT = assess(CONFIG, "source", None)
_PARTITION = {"filename": "/in"}

Topic = dict[str, dict[str, Any]]


def entries(topic: Topic) -> list[dict[str, Any]]:
    """What a side would show of its offset topic."""
    return list(topic.values())


def store(topic: Topic, changes: Sequence[Mapping[str, Any]]) -> None:
    """Alter offsets as both sides do."""
    for entry in changes:
        identity = str(entry["partition"])
        if entry["offset"] is None:
            topic.pop(identity, None)
        else:
            topic[identity] = dict(entry)


@dataclass
class World:
    """What both sides do to the outside: each run moves the next two records after its offset.

    :param written: the positions of all records that reached Kafka.
    :param fail_at: the call at which an exception is raised; each call of both sides counts.
    :param before: whether the call fails before it has done its work, or afterwards.
    """

    connect_topic: Topic = field(default_factory=dict)
    our_topic: Topic = field(default_factory=dict)
    connect_state: str = "RUNNING"
    our_state: str = "STARTED"
    handover: Handover | None = None
    written: list[int] = field(default_factory=list)
    calls: int = 0
    fail_at: int | None = None
    before: bool = True
    folder: ConnectorFolder | None = None

    def call(self, work: Any = None) -> Any:
        """One call of a side, which may fail. Between calls, everything that may run does."""
        self.calls += 1
        fails = self.calls == self.fail_at
        if fails and self.before:
            raise RetriableError("it fails, and nothing was done")
        answer = work() if work else None
        self.run_all()
        if fails:
            raise RetriableError("it fails, although the work was done")
        return answer

    def run_all(self) -> None:
        """Both sides run what they may; they must never both be allowed to."""
        there = self.connect_state == "RUNNING"
        here = self.our_state == "STARTED" and self.folder is not None and self.folder.file_of("c").exists()
        assert not (there and here), "both sides run the connector"
        for runs, topic in ((there, self.connect_topic), (here, self.our_topic)):
            if runs:
                self._run(topic)

    def _run(self, topic: Topic) -> None:
        position = next((int(entry["offset"]["position"]) for entry in topic.values()), 0)
        self.written += [position, position + 1]
        store(topic, [{"partition": _PARTITION, "offset": {"position": position + 2}}])


class ClusterInMemory(ConnectCluster):
    """Connect's side of a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def connector(self, name: str) -> ConnectorThere:
        state = self._world.call(lambda: self._world.connect_state)
        return ConnectorThere(name, CONFIG, "source", state, ("RUNNING",) if state == "RUNNING" else ())

    def offsets(self, name: str) -> list[dict[str, Any]]:
        return list(self._world.call(lambda: entries(self._world.connect_topic)))

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        assert self._world.connect_state == "STOPPED", "Connect alters the offsets of stopped connectors only"
        self._world.call(lambda: store(self._world.connect_topic, offsets))
        return "altered"

    def stop(self, name: str, *, timeout_s: float = 120.0) -> None:
        self._world.call(lambda: setattr(self._world, "connect_state", "STOPPED"))

    def resume(self, name: str, *, timeout_s: float = 60.0) -> ConnectorThere:
        self._world.call(lambda: setattr(self._world, "connect_state", "RUNNING"))
        return self.connector(name)


class HereInMemory(Here):
    """Our side of a world."""

    def __init__(self, world: World) -> None:
        self._world, self.props = world, {}

    def handover(self, name: str) -> Handover | None:
        recorded: Handover | None = self._world.call(lambda: self._world.handover)
        return recorded

    def record(self, name: str, handover: Handover) -> None:
        self._world.call(lambda: setattr(self._world, "handover", handover))

    def state(self, name: str) -> str:
        return str(self._world.call(lambda: self._world.our_state))

    def set_state(self, name: str, state: str) -> None:
        self._world.call(lambda: setattr(self._world, "our_state", state))

    def offsets(self, config: Mapping[str, Any]) -> list[dict[str, Any]]:
        return list(self._world.call(lambda: entries(self._world.our_topic)))

    def alter_offsets(self, config: Mapping[str, Any], offsets: Sequence[Mapping[str, Any]]) -> str:
        assert self._world.our_state == "STOPPED", "offsets of stopped connectors only are altered"
        self._world.call(lambda: store(self._world.our_topic, offsets))
        return "altered"

    def settle(self, config: Mapping[str, Any], name: str) -> None:
        self._world.call(lambda: setattr(self._world, "our_state", "STOPPED"))


def candidate(world: World) -> Candidate:
    """The connector of a world, as a survey would find it."""
    there = ConnectorThere("c", CONFIG, "source", world.connect_state)
    return Candidate(there, CONFIG, _ASSESSMENT)
