"""The dead letters of a connector: how many its topic holds, and the last ones of this connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.control.overview.known import Known
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import Bounds
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.shared import shared_kafka
from airflow_kconnect.kafka.sink_topics import dead_letter_group
from airflow_kconnect.kafka.tail import SeenRecord, TopicTail
from airflow_kconnect.runs.end import distance, run_start
from airflow_kconnect.validation.topic_rules import DEAD_LETTER_TOPIC
from airflow_kconnect.worker_config.keys import WorkerConfig

_CONTEXT = "errors.deadletterqueue.context.headers.enable"
_CONTEXT_HEADER = "__connect.errors."
_CONNECTOR = f"{_CONTEXT_HEADER}connector.name"
_SEEN = 500


class DeadLetters:
    """Looks into topics of dead letters. Thread-safe."""

    def __init__(self, worker: WorkerConfig) -> None:
        self._clients, self._group = ClientConfigs(worker.props), f"{worker.group_id}-dead-letters"
        self._kafka = shared_kafka(self._clients, self._group)

    def count(self, known: Known) -> dict[str, Any]:
        """`topic`, `records`, `not_replayed` and `attributed`.

        :returns: `topic` is None if the connector has none; `records` is counted in offsets, as everywhere in Kafka,
            and includes those of other connectors with the same topic; it is None if the topic does not exist.
            `not_replayed`: those that a sink has not replayed yet; None of a source, which cannot. `attributed` says
            whether letters name their connector: others are not shown.
        :raises RetriableError: the broker is unavailable.
        """
        topic = known.dead_letter_topic
        attributed = known.props.get(_CONTEXT, "false").strip().lower() == "true"
        counts = {"records": None, "not_replayed": None} if topic is None else self._counts(topic, known)
        return {"topic": topic, **counts, "attributed": attributed}

    def last(self, known: Known, most: int) -> list[dict[str, Any]]:
        """The last dead letters that name this connector in their headers, the newest one first.

        Letters of other connectors and other records are not shown: the user who may change this connector chooses its
        topic, and need not be allowed to read it.

        :raises ConfigError: there is no such topic. :raises RetriableError: the broker is unavailable.
        """
        topic = known.dead_letter_topic
        if not topic:
            text = f"{DEAD_LETTER_TOPIC} is not set: the connector has no topic of dead letters"
            raise ConfigError({DEAD_LETTER_TOPIC: [text]})
        with self._kafka.admin() as admin:
            found = TopicTail(admin, self._clients.consumer(self._group), topic).last(_SEEN)
        return [_shown(record) for record in reversed(found) if _header(record, _CONNECTOR) == known.name][:most]

    def _counts(self, topic: str, known: Known) -> dict[str, int | None]:
        with self._kafka.admin() as admin:
            size = admin.partitions_of([topic]).get(topic)
            if size is None:
                return {"records": None, "not_replayed": None}
            bounds = admin.bounds([TopicPartition(topic, p) for p in range(size)])
            left = not_replayed(admin, bounds, known.group) if known.kind == "sink" else None
        return {"records": sum(each.end - each.begin for each in bounds.values()), "not_replayed": left}


def not_replayed(admin: KafkaAdmin, bounds: Mapping[TopicPartition, Bounds], group: str) -> int:
    """How many dead letters of a sink are left to replay: the lag of the group that replays them.

    :param bounds: of all partitions of the topic. :param group: of the sink.
    """
    replayed = admin.committed_offsets(dead_letter_group(group))
    starts = {at: run_start(replayed.get(at), *bound, latest=False) for at, bound in bounds.items()}
    return sum(distance(starts[at], bound.log_end) for at, bound in bounds.items())


def _header(record: SeenRecord, name: str) -> str | None:
    """The last one of this name is that of the reporter: a record may have had its own."""
    return next((header["value"] for header in reversed(record.headers) if header["key"] == name), None)


def _shown(record: SeenRecord) -> dict[str, Any]:
    context = {
        (header["key"] or "").removeprefix(_CONTEXT_HEADER): header["value"]
        for header in record.headers
        if (header["key"] or "").startswith(_CONTEXT_HEADER)
    }
    own = [header for header in record.headers if not (header["key"] or "").startswith(_CONTEXT_HEADER)]
    return {**asdict(record), "headers": own, "context": context}
