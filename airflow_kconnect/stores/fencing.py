"""Fencing of source connectors: whoever had a transactional id can commit nothing once somebody else has taken it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.producers import CommittingProducer, fence, new_producer
from airflow_kconnect.stores import transactional_ids


class SourceFence:
    """Takes the transactional ids of a source connector: its driver's, and those of its tasks, each of them once.

    Without exactly-once nobody has ids, and nobody is fenced.

    :param group_id: the worker's ``group.id``.
    :param name: of the connector, or of a replay of it.
    """

    def __init__(self, clients: ClientConfigs, group_id: str, name: str, *, exactly_once: bool) -> None:
        self._clients, self._group_id, self._name, self._exactly_once = clients, group_id, name, exactly_once
        self._taken = 0

    @contextmanager
    def driver(self, doing: str) -> Iterator[CommittingProducer]:
        """The producer of whoever alters offsets from now on.

        :param doing: begins error texts.
        :raises ConfigError, RetriableError, FencedError: the id cannot be taken.
        """
        driver_id = transactional_ids.driver_id(self._group_id, self._name) if self._exactly_once else None
        producer = new_producer(self._clients.producer(driver_id), f"{doing} of connector {self._name}")
        try:
            yield producer
        finally:
            producer.close()

    def tasks(self, count: int) -> bool:
        """Fence the first tasks; whether there were any that had not been fenced yet.

        :raises ConfigError, RetriableError, FencedError: an id cannot be taken.
        """
        new = range(self._taken, count) if self._exactly_once else range(0)
        for task in new:
            config = self._clients.producer(transactional_ids.task_id(self._group_id, self._name, task))
            fence(config, f"fencing task {task} of connector {self._name}")
        self._taken = max(self._taken, count)
        return bool(new)
