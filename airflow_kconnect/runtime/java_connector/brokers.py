"""Whether the brokers are there while a hosted connector runs: Connect's own clients wait for them without end."""

from __future__ import annotations

import time

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin

# Longer than a broker takes to start again.
_PATIENCE_S = 120.0
_ASK_AFTER_S = 2.0


class BrokersUnavailable(RetriableError):
    """No broker has answered for so long that the run is given up."""


class BrokerWatch:
    """Asks the brokers when nothing moves.

    :param connector: its name, for the error.
    """

    def __init__(self, admin: KafkaAdmin, connector: str) -> None:
        self._admin, self._connector = admin, connector
        self._unavailable_since: float | None = None
        self._seen: object = None
        self._asked_s = 0.0

    def unavailable(self, seen: object, *, ask: bool = False) -> bool:
        """Whether they are unavailable, as far as was seen. While nothing moves, they are asked every two seconds.

        :param seen: what changes when something moves, such as counts of records. :param ask: ask in any case.
        :raises BrokersUnavailable: they have been for too long.
        """
        now = time.monotonic()
        if seen != self._seen and not ask:
            self._seen, self._asked_s, self._unavailable_since = seen, now, None
        elif ask or now - self._asked_s >= _ASK_AFTER_S:
            self._ask()
        return self._unavailable_since is not None

    def _ask(self) -> None:
        problem = self._admin.problem()
        now = self._asked_s = time.monotonic()
        if problem is None:
            self._unavailable_since = None
            return
        self._unavailable_since = self._unavailable_since or now
        if now - self._unavailable_since >= _PATIENCE_S:
            raise BrokersUnavailable(
                f"connector {self._connector}: no Kafka broker has answered at {self._admin.servers} for"
                f" {_PATIENCE_S:.0f} s: {problem}. What is not committed is moved again by the next run"
            )
