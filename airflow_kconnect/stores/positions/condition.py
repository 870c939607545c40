"""What a condition of sensors and triggers is, and what a check of it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from airflow_kconnect.stores.positions.positions import ConnectorPositions


@dataclass(frozen=True)
class Finding:
    """The result of one check of a connector.

    :param position: small, JSON: goes to XCom and into events.
    """

    met: bool
    position: dict[str, Any]


@dataclass(frozen=True)
class Condition(ABC):
    """A condition that is met or not; its fields are plain JSON data."""

    kind: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    """Prefixes of the connector's keys that it needs besides those of its topics and Kafka clients."""

    @abstractmethod
    def look(self, connector: ConnectorPositions) -> Finding:
        """Query Kafka. Blocks; called from threads.

        :raises ConfigError: the condition can never be met. :raises RetriableError: the broker is unavailable.
        """
