"""One embedded broker, or a cluster of three, whose brokers are killed, stopped and frozen one at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.local.ports import LOOPBACK, free_port

_THREE = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
}
_START_S = 240
"""A broker on a machine that is busy with everything else takes its time."""
# As clusters of many have them: joining a group takes seconds, and offsets of a group without members expire.
_DEFAULTS = {
    "initial.broker.registration.timeout.ms": f"{_START_S * 1000}",
    "group.initial.rebalance.delay.ms": "6000",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "5000",
}
# A lone broker that its own controller has fenced calls transactions complete whose end no partition gets.
_ALONE = {"broker.session.timeout.ms": "120000"}


class Cluster:
    """Brokers that are controllers as well.

    :param nodes: 1 or 3.
    """

    def __init__(self, folder: Path, nodes: int) -> None:
        ports = [(free_port(), free_port()) for _ in range(nodes)]
        voters = ",".join(f"{k}@{LOOPBACK}:{controller}" for k, (_, controller) in enumerate(ports, 1))
        self.brokers = []
        for k, (port, controller) in enumerate(ports, 1):
            data = folder / f"broker-{k}"
            data.mkdir(parents=True, mode=0o700)
            (data / "cluster.id").write_text("TortureTortureTortureQ")
            settings = {
                **_DEFAULTS,
                **(_THREE if nodes > 1 else _ALONE),
                "node.id": str(k),
                "controller.quorum.voters": voters,
                "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller}",
            }
            self.brokers.append(EmbeddedBroker(data, port=port, heap_mb=256, settings=settings))
        self.bootstrap = ",".join(f"{LOOPBACK}:{port}" for port, _ in ports)

    def start(self) -> None:
        """Start all brokers: none of them answers before most of them run."""
        with ThreadPoolExecutor(len(self.brokers)) as pool:
            list(pool.map(lambda broker: broker.start(timeout_s=_START_S), self.brokers))

    def stop(self) -> None:
        """Stop all brokers."""
        with ThreadPoolExecutor(len(self.brokers)) as pool:
            list(pool.map(lambda broker: broker.stop(), self.brokers))

    def strike(self, how: str, node: int) -> None:
        """Kill, stop or freeze a broker."""
        broker = self.brokers[node]
        strikes: dict[str, Callable[[], object]] = {"kill": broker.kill, "stop": broker.stop, "freeze": broker.pause}
        strikes[how]()

    def bring_back(self, how: str, node: int) -> None:
        """Start it again, or let it continue."""
        if how == "freeze":
            self.brokers[node].resume()
        else:
            self.brokers[node].start(timeout_s=_START_S)

    def worker(self, *, exactly_once: bool) -> dict[str, str]:
        """Worker properties."""
        support = "enabled" if exactly_once else "disabled"
        return worker_config(self.bootstrap) | {"exactly.once.source.support": support}
