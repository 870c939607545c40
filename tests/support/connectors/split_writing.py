"""Source splits that are written to a producer that records its calls."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.connector.source import ResumePoint, Split
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.runtime.process.progress import ProgressAddress
from airflow_kconnect.runtime.settings import TopicCreation
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.topics import TopicMaker
from airflow_kconnect.runtime.source.writer import ChunkedWriter, WriterSettings, tracking_of
from airflow_kconnect.stores.offset_topic.follower import PlanPointer
from airflow_kconnect.stores.offset_topic.records import Claim, Marker, PlanRecord

PLAN = PlanRecord("plan", "run", 1, (Split({"filename": "/a"}, 0, 100),))
POINTER = PlanPointer("fs", "connect-offsets", 5, Claim("claim", "run"), PLAN, {}, {}, 1.0)
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


class FakeProducer:
    """Records its calls."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def produce(self, *record: Any) -> None:
        self.told.append(record)

    def produce_patiently(self, *record: Any) -> None:
        while True:
            try:
                return self.produce(*record)
            except BufferError:
                self.poll(0.1)

    def poll(self, timeout_s: float) -> int:
        return 0

    def begin(self) -> None:
        self.told.append("begin")

    def settle(self) -> None:
        """Transactions do not need it."""

    def commit(self) -> None:
        self.told.append("commit")

    def abort(self) -> None:
        self.told.append("abort")


class FullProducer(FakeProducer):
    """Has no room for every second record until it is polled."""

    full = True

    def produce(self, *record: Any) -> None:
        if self.full:
            raise BufferError
        self.full = True
        super().produce(*record)

    def poll(self, timeout_s: float) -> int:
        self.full = False
        return 0


class NoCommit(FakeProducer):
    def commit(self) -> None:
        raise RetriableError("broker is unavailable")


class FlushedProducer(FakeProducer):
    """Has no transactions."""

    def settle(self) -> None:
        self.told.append("flush")


class FakeAdmin:
    """Has every topic."""

    def partitions(self, topic: str) -> int:
        return 1


def settings(**changed: Any) -> WriterSettings:
    defaults: dict[str, Any] = {
        "pointer": POINTER,
        "splits": (0,),
        "producer_configs": {},
        "consumer_config": {},
        "admin_config": {},
        "constant_topic": "t",
        "topic_creation": TopicCreation(True),
        "internal_topics": frozenset({"connect-offsets"}),
        "chunk_ms": 60_000,
        "deadline_epoch_s": None,
        "poll": False,
        "progress": ProgressAddress("127.0.0.1", 9, "token"),
        "known_keys": {},
        "errors": ErrorHandling("c"),
    }
    return WriterSettings(**{**defaults, **changed})


class Writing:
    """A split that is being written; `told` has the calls of the producer, without our own records."""

    def __init__(self, marker: Marker | None = None, producer: FakeProducer | None = None, **changed: Any) -> None:
        self.producer, self.report = producer or FakeProducer(), SplitReport(0)
        self.settings = settings(**changed)
        topics = TopicMaker(FakeAdmin(), TopicCreation(True), self.settings.internal_topics)  # type: ignore[arg-type]
        tracking = tracking_of(self.settings, self.report, marker)
        self.writer = ChunkedWriter(self.settings, self.report, self.producer, topics, tracking)  # type: ignore[arg-type]

    def write(self, *batches: pa.RecordBatch) -> Writing:
        self.writer.write(iter(batches))
        return self

    @property
    def told(self) -> list[Any]:
        return [what if isinstance(what, str) else what[:2] for what in self.producer.told if not self._is_ours(what)]

    @property
    def values(self) -> list[Any]:
        return [what[1] for what in self.told if isinstance(what, tuple)]

    @property
    def markers(self) -> list[Marker]:
        return [Marker.decode(what[1]) for what in self.producer.told if self._is_ours(what)]

    @property
    def ours(self) -> list[Any]:
        return [what for what in self.producer.told if self._is_ours(what)]

    def _is_ours(self, what: Any) -> bool:
        return isinstance(what, tuple) and what[0] == "connect-offsets"


def lines(*progress: ResumePoint, error: str | None = None, **columns: list[Any]) -> pa.RecordBatch:
    """Rows ``line-<progress>``; the last one has the error."""
    count = len(progress)
    data: dict[str, Any] = {
        "value": pa.array([f"line-{at}".encode() for at in progress], pa.binary()),
        "progress": pa.array(progress, pa.int64() if all(isinstance(at, int) for at in progress) else pa.string()),
        "error": pa.array([*[None] * (count - 1), error] if count else [], pa.string()),
    }
    data |= {name: pa.array(column, _TYPES[name]) for name, column in columns.items()}
    return pa.RecordBatch.from_pydict(data)


_TYPES = {
    "key": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "timestamp": pa.int64(),
    "headers": _HEADERS,
    "source_partition": pa.string(),
    "source_offset": pa.string(),
}
