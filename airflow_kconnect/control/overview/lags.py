"""The lag of all sinks at once: a few requests for all topics, one for each consumer group, none of them in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Container, Mapping
from concurrent.futures import ThreadPoolExecutor, TimeoutError, as_completed
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.kafka.shared import shared_kafka
from airflow_kconnect.kafka.sink_topics import chosen_topics, named_topics, offset_reset, sink_group
from airflow_kconnect.runs.end import distance, run_start
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

_FRESH_S = 4.0
_LIMIT_S = 8.0
_AT_A_TIME = 16
_OTHER_CLUSTER = ("consumer.override.bootstrap.servers", "admin.override.bootstrap.servers")


@dataclass(frozen=True)
class LagsFound:
    """What the broker has answered.

    :param lags: the lag of each sink, in offsets; sinks without an answer are left out.
    :param problem: why some are left out; None if none is.
    :param at_ms: when the broker was asked.
    """

    lags: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None
    at_ms: int = 0


class Lags:
    """Asks for the lag of sinks; answers are kept for a few seconds, for all who look. Thread-safe."""

    def __init__(self, worker: WorkerConfig) -> None:
        self._worker = worker
        self._kafka = shared_kafka(ClientConfigs(worker.props), f"{worker.group_id}-lags")
        self._lock = threading.Lock()
        self._found = LagsFound()
        self._until = 0.0

    def of(self, sinks: Mapping[str, Mapping[str, str]]) -> LagsFound:
        """The lag of each sink.

        :param sinks: all of them, with their configurations: name, topics, group. Those are left out that
            read another cluster, or whose topics or group are variables.
        """
        # While another request asks, the answer is what was known before.
        if self._lock.acquire(blocking=self._found.at_ms == 0):
            try:
                if time.monotonic() >= self._until:
                    self._found = self._asked({name: props for name, props in sinks.items() if _can_be_asked(props)})
                    self._until = time.monotonic() + _FRESH_S
            finally:
                self._lock.release()
        return self._found

    def committed(self, group: str) -> list[dict[str, Any]]:
        """The offsets of a consumer group, as in Connect's REST API.

        :raises RetriableError: the broker is unavailable.
        """
        with self._kafka.admin() as admin:
            found = sorted(admin.committed_offsets(group).items())
        return [
            {
                "partition": {"kafka_topic": at.topic, "kafka_partition": at.partition},
                "offset": {"kafka_offset": offset},
            }
            for at, offset in found
        ]

    def _asked(self, sinks: Mapping[str, Mapping[str, str]]) -> LagsFound:
        at_ms = int(time.time() * 1000)
        if not sinks:
            return LagsFound(at_ms=at_ms)
        try:
            with self._kafka.admin() as admin:
                sizes, late = admin.topics(), time.monotonic() + _LIMIT_S
                topics = self._topics(sinks, sizes)
                wanted = {topic for chosen in topics.values() for topic in chosen}
                bounds = admin.bounds([TopicPartition(topic, p) for topic in wanted for p in range(sizes[topic])])
                committed = _committed(admin, {name: sink_group(sinks[name]) for name in topics}, late)
        except ConnectError as error:
            return LagsFound(problem=str(error), at_ms=at_ms)
        places: dict[str, list[TopicPartition]] = {}
        for place in bounds:
            places.setdefault(place.topic, []).append(place)
        lags = {
            name: sum(
                _lag(
                    offsets.get(place), bounds[place], latest=offset_reset(sinks[name], self._worker.props) == "latest"
                )
                for topic in topics[name]
                for place in places.get(topic, ())
            )
            for name, offsets in committed.items()
        }
        missing = len(topics) - len(lags)
        problem = f"{missing} of {len(topics)} consumer groups have not answered in time" if missing else None
        return LagsFound(lags, problem, at_ms)

    def _topics(self, sinks: Mapping[str, Mapping[str, str]], existing: Mapping[str, int]) -> dict[str, list[str]]:
        """The topics of each sink, without those sinks whose topics do not exist yet."""
        internal = internal_topics_of(self._worker)
        chosen = {name: _chosen(props, existing, internal) for name, props in sinks.items()}
        return {name: topics for name, topics in chosen.items() if topics or "topics.regex" in sinks[name]}


def _can_be_asked(props: Mapping[str, str]) -> bool:
    read = (props.get(key, "") for key in ("topics", "topics.regex", "consumer.override.group.id"))
    return not any(key in props for key in _OTHER_CLUSTER) and not any(map(has_reference, read))


def _chosen(props: Mapping[str, str], existing: Mapping[str, int], internal: Container[str]) -> list[str]:
    if "topics.regex" not in props:
        return sorted(set(named_topics(props)) & set(existing))
    try:
        return chosen_topics(props, existing, internal)
    except ConfigError:
        return []


def _committed(admin: PollingAdmin, groups: Mapping[str, str], late: float) -> dict[str, dict[TopicPartition, int]]:
    """The offsets of each sink's group that has answered in time."""
    pool = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="lags")
    asked = {pool.submit(admin.committed_offsets, group): name for name, group in groups.items()}
    found: dict[str, dict[TopicPartition, int]] = {}
    try:
        for answer in as_completed(asked, max(late - time.monotonic(), 0.0)):
            if answer.exception() is None:
                found[asked[answer]] = answer.result()
    except TimeoutError:
        pass
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return found


def _lag(committed: int | None, bounds: Bounds, *, latest: bool) -> int:
    return distance(run_start(committed, *bounds, latest=latest), bounds.log_end)
