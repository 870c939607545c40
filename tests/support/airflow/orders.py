"""An Airflow DAG with a sink for old records, for tests of backfills."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from tests.support import unique
from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow, wait_for
from tests.support.kafka import create_topic

MIDNIGHT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000


class Orders:
    """A DAG with a sink for old records, ten an hour; its live run stops half-way until it is released."""

    def __init__(self, airflow: StandaloneAirflow, bootstrap: str, folder: Path) -> None:
        self.airflow, self.out = airflow, folder / "out"
        # The records are old.
        self.topic = topic = create_topic(bootstrap, unique("orders"), config={"retention.ms": "-1"})
        self._blocked = folder / "live-run-is-here"
        producer = Producer({"bootstrap.servers": bootstrap})
        for n in range(60):
            producer.produce(topic, f"r{n}".encode(), timestamp=MIDNIGHT + n * HOUR // 10)
        assert producer.flush(30) == 0
        connector = {
            "name": unique("orders"),
            "connector.class": "DirectorySink",
            "topics": topic,
            "directory": str(self.out),
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        }
        self.dag = ConnectorDag(airflow, "orders", "KafkaSinkOperator", connector, hourly=True)
        # Replays pass, as the failpoint takes effect only once.
        self.dag.write(failpoint=f"after-reading-offsets:block:{self._blocked}")

    def wait_until_live_run_is_at_work(self) -> None:
        def at_work() -> bool:
            for run in self.dag.runs("scheduled"):
                assert run["state"] not in ("success", "failed"), self.dag.log(run)
            return self._blocked.exists()

        wait_for(at_work, "the live run did not come to its block", self.airflow)

    def wait_until_no_backfill_is_active(self) -> None:
        """Wait, since a DAG can have only one at a time."""

        def over() -> bool:
            backfills = self.airflow.ask("GET", "/api/v2/backfills?dag_id=orders")["backfills"]
            return all(backfill["completed_at"] for backfill in backfills)

        wait_for(over, "a backfill is still active", self.airflow)

    def let_live_run_go(self) -> dict[str, Any]:
        self._blocked.unlink()
        return self.dag.wait_for_runs("scheduled", 1)[0]

    def replayed(self, interval: str) -> list[str]:
        return _records(self.out / "_replays" / interval)

    def moved(self) -> list[str]:
        return _records(self.out / self.topic)


def _records(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]
