"""The topics in which Connect keeps what it knows: those of the worker, and of the groups that host Java connectors."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

_OF_HOSTED_GROUPS = ("-configs", "-status")


@dataclass(frozen=True)
class InternalTopics(Container[str]):
    """Topics that no connector reads by a pattern, or writes to, and whose records are not shown.

    :param names: of the worker's own.
    :param group: `group.id` of the worker. Each hosted connector has a group of its own below it, with two topics: see
        `hosted_group`.
    """

    names: frozenset[str]
    group: str

    def __contains__(self, topic: object) -> bool:
        if topic in self.names:
            return True
        prefix = f"{self.group}-"
        if not isinstance(topic, str) or not topic.startswith(prefix):
            return False
        return any(topic.endswith(end) and len(topic) > len(prefix + end) for end in _OF_HOSTED_GROUPS)

    def among(self, topics: Iterable[str]) -> list[str]:
        """Those that are internal, sorted."""
        return sorted(topic for topic in set(topics) if topic in self)

    def and_(self, *topics: str) -> InternalTopics:
        """These and some more."""
        return InternalTopics(self.names.union(topics), self.group)
