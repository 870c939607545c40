"""Taking over a source connector: afterwards no other run can commit anything for it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.kafka.producers import CommittingProducer, fence, new_producer
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.offset_topic.records import Claim, claim_key

_FENCED_AT_ONCE = 8


class View(Protocol):
    """What the caller reads about a connector from the offset topic."""

    @property
    def tasks(self) -> int:
        """How many transactional ids an unfinished plan may have in use."""

    def add(self, record: LogRecord) -> None:
        """Process one record of the topic."""


class SourceFence:
    """Acquires the transactional ids of a source connector: its driver's and those of its tasks, each of them once.

    Without exactly-once there are no ids and no fencing; there, too, tasks that have not started yet see the claim.

    :param group_id: the worker's ``group.id``.
    :param name: of the connector, or of a replay of it.
    """

    def __init__(self, clients: ClientConfigs, group_id: str, name: str, *, exactly_once: bool) -> None:
        self._clients, self._group_id, self._name, self._exactly_once = clients, group_id, name, exactly_once
        self._taken = 0

    @contextmanager
    def driver(self, doing: str) -> Iterator[CommittingProducer]:
        """The producer for altering offsets; it fences any earlier holder of the driver's id.

        :param doing: error texts start with it.
        :raises ConfigError, RetriableError, FencedError: the id cannot be acquired.
        """
        driver_id = transactional_ids.driver_id(self._group_id, self._name) if self._exactly_once else None
        producer = new_producer(self._clients.producer(driver_id), f"{doing} of connector {self._name}")
        try:
            yield producer
        finally:
            producer.close()

    def take_over(
        self,
        producer: CommittingProducer,
        topic_log: CompactedLog,
        partitions: int,
        view: View,
        run_id: str,
        tasks: int,
    ) -> Claim:
        """Claim the connector, fence its tasks and read the topic: `view` then holds all that others have committed and
        can commit.

        The claim comes first. A task of an older run that acquires its id after us sees the claim and ends; one that
        acquired it before is fenced. A process that no longer holds the driver's id fails at the claim and fences no
        task.

        :param producer: from `driver`.
        :param partitions: number of partitions of the offset topic.
        :param tasks: ids that are fenced in any case: ``tasks.max``.
        :raises ConfigError, RetriableError, FencedError: an id cannot be acquired, or the topic cannot be read to its
            end.
        """
        claim = Claim(uuid.uuid4().hex, run_id)
        key = claim_key(self._name)
        producer.begin()
        producer.produce_patiently(topic_log.topic, claim.encode(), key, partition_of(key, partitions))
        producer.commit()
        everything = range(partitions)
        # The reader would otherwise wait for the open transactions of a killed run until they time out; the run's plan,
        # which says whose they are, was committed before them.
        topic_log.read(everything, view.add, committed=True)
        self._fence_tasks(max(tasks, view.tasks))
        topic_log.read(everything, view.add)
        while self._fence_tasks(view.tasks):  # another run's open transaction had hidden the plan
            topic_log.read(everything, view.add)
        return claim

    def _fence_tasks(self, count: int) -> bool:
        """Fence the first tasks; returns whether there were any that had not been fenced yet."""
        new = range(self._taken, count) if self._exactly_once else range(0)
        if new:
            # Almost all of it is waiting for the broker.
            with ThreadPoolExecutor(min(len(new), _FENCED_AT_ONCE)) as threads:
                list(threads.map(self._fence_task, new))
        self._taken = max(self._taken, count)
        return bool(new)

    def _fence_task(self, task: int) -> None:
        config = self._clients.producer(transactional_ids.task_id(self._group_id, self._name, task))
        fence(config, f"fencing task {task} of connector {self._name}")
