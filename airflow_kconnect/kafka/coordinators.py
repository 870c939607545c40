"""Requests to the brokers that coordinate consumer groups: librdkafka soon gives up looking for these brokers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.errors import error_of

CLIENT_TIMEOUT_S = 600.0
"""The client's own limit for a request to the coordinator of a group; longer than a client without an answer is kept,
since librdkafka aborts the process if it finds a coordinator after it has given up.
"""
_REPLACED_CLIENT_S = CLIENT_TIMEOUT_S / 2
_FIRST_ANSWER_S = 1.0
_LOOK_S = 0.25

Ask = Callable[[AdminClient, Collection[str]], Mapping[str, Future[Any]]]
"""Sends requests about some groups. They change nothing, since they may be sent, and answered, several times."""


def admin_client(config: Mapping[str, Any]) -> AdminClient:
    """A confluent_kafka admin client; connects on the first request.

    :param config: librdkafka configuration.
    :raises ConfigError: the client rejects the configuration.
    """
    try:
        # The broker would otherwise create topics that are only described, with settings that no one has chosen.
        return AdminClient({**config, "allow.auto.create.topics": False})
    except KafkaException as error:
        text = f"the Kafka client refuses its configuration: {error_of(error).str()}"
        raise ConfigError({"bootstrap.servers": [text]}) from error


class ReplaceableClient:
    """An admin client, and another one once it finds no coordinator of a group.

    librdkafka looks three times for a coordinator, within half a second, and then neither asks again nor says so: a new
    cluster takes longer, and so may one whose broker has failed.

    :param config: librdkafka configuration.
    :raises ConfigError: the client rejects it.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self.current = admin_client(config)

    def answer(self, ask: Ask, group: str, timeout_s: float) -> Future[Any]:
        """The answer about one group, see `answers`."""
        return self.answers(ask, [group], timeout_s)[group]

    def answers(self, ask: Ask, groups: Iterable[str], timeout_s: float) -> dict[str, Future[Any]]:
        """The answers of the groups' coordinators, in order; a time-out where there is none in time."""
        deadline, patience_s = time.monotonic() + timeout_s, _FIRST_ANSWER_S
        requests: dict[str, list[Future[Any]]] = {group: [] for group in groups}
        answers: dict[str, Future[Any]] = {}
        while waiting := requests.keys() - answers.keys():
            newest = ask(self.current, waiting)
            for group, request in newest.items():
                requests[group].append(request)
            until = min(deadline, time.monotonic() + patience_s)
            while waiting and (left := until - time.monotonic()) > 0:
                wait([newest[group] for group in waiting], min(left, _LOOK_S))
                # An earlier request may have been slow rather than lost.
                done = {group: next((r for r in requests[group] if r.done()), None) for group in waiting}
                answers |= {group: answer for group, answer in done.items() if answer}
                waiting -= answers.keys()
            if waiting:
                self._replace()
            if time.monotonic() >= deadline:
                break
            patience_s *= 2
        return {group: answers.get(group) or _late() for group in requests}

    def _replace(self) -> None:
        """Use another client; the present one ends later, as other threads may wait for its answers."""
        end = threading.Timer(_REPLACED_CLIENT_S, lambda _: None, [self.current])
        end.daemon = True
        end.start()
        self.current = admin_client(self._config)


def descriptions(*, with_rights: bool = False) -> Ask:
    """Asks for the states of groups, and who is in them. :param with_rights: and for this principal's permissions."""
    return lambda client, groups: client.describe_consumer_groups(
        [*groups], include_authorized_operations=with_rights, request_timeout=CLIENT_TIMEOUT_S
    )


def offsets_of(wanted: Mapping[str, ConsumerGroupTopicPartitions], *, require_stable: bool) -> Ask:
    """Asks for what groups have committed.

    :param wanted: by group. :param require_stable: wait for open transactions that hold offsets for it.
    """

    def ask(client: AdminClient, groups: Collection[str]) -> Mapping[str, Future[Any]]:
        futures: dict[str, Future[Any]] = {}
        for group in groups:  # librdkafka takes one at a time
            futures |= client.list_consumer_group_offsets(
                [wanted[group]], require_stable=require_stable, request_timeout=CLIENT_TIMEOUT_S
            )
        return futures

    return ask


def _late() -> Future[Any]:
    answer: Future[Any] = Future()
    answer.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    return answer
