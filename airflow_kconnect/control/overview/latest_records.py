"""The latest records in the topics of a sink, as they are in Kafka."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.control.configurations import RequestError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.sink_topics import chosen_topics
from airflow_kconnect.kafka.tail import SeenRecord, TopicTail, lossless
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

_MOST_TOPICS = 10


class LatestRecords:
    """Reads what a sink would read, with the clients that its runs would have.

    :param worker: variables resolved.
    """

    def __init__(self, worker: WorkerConfig) -> None:
        self._worker = worker

    def of(self, config: Mapping[str, str], most: int, topic: str | None = None) -> list[SeenRecord]:
        """The last records of its topics, the oldest first; texts are `lossless`.

        :param config: of the sink, with its name, variables resolved. :param topic: only those of this one.
        :raises ConfigError: a topic does not exist, is one of the worker's own, or is not read by the sink.
        :raises RetriableError: the broker is unavailable.
        """
        clients = ClientConfigs(self._worker.props, config, config["name"])
        admin = KafkaAdmin(clients.admin())
        topics = chosen_topics(config, admin.check_reachable(), internal_topics_of(self._worker))
        if topic is not None and topic not in topics:
            raise RequestError({"topic": [f"{config['name']} does not read a topic {topic}"]})
        # They have the secrets of all connectors.
        if internal := internal_topics_of(self._worker).among(topics):
            raise RequestError(
                {"topics": [f"records of {', '.join(internal)} are not shown: it is internal to Connect"]}
            )
        chosen = [topic] if topic is not None else topics[:_MOST_TOPICS]
        consumer = clients.consumer(f"{self._worker.group_id}-previews")
        found = [record for each in chosen for record in TopicTail(admin, consumer, each, lossless).last(most)]
        if not found:
            raise RequestError({"latest": [f"there are no records in {', '.join(chosen) or 'its topics'} yet"]})
        return sorted(found, key=lambda record: (record.timestamp, record.topic, record.partition, record.offset))[
            -most:
        ]
