"""What an attempt of a group's task has finished, for the next one: in Airflow's store for the state of tasks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from airflow_kconnect.operators.groups.outcome import in_short, masked_end
from airflow_kconnect.runs.group import MemberEnd

if TYPE_CHECKING:
    from airflow.sdk import Context

log = logging.getLogger(__name__)

# Airflow's default limit of a value is 64 KiB.
_MOST_OF_VALUE, _MOST_OF_END = 50_000, 10_000


class KeptEnds:
    """The ends of connectors that a retry does not run again: those that have succeeded, and those for which it would
    not help.

    Airflow below 3.3 has no such store: there all are run again.

    :param key: changes when the task is cleared, which asks for all of them again.
    :ivar known: the connectors that earlier attempts have kept.
    """

    def __init__(self, context: Context, key: str) -> None:
        self._store: Any = context.get("task_state_store")
        self._key = key
        self._count = 0  # of values
        self.known: frozenset[str] = frozenset()

    def read(self) -> dict[str, MemberEnd]:
        """By connector. Without the store none: running all again costs time and nothing else."""
        found: dict[str, MemberEnd] = {}
        try:
            while self._store is not None and isinstance(part := self._store.get(f"{self._key}:{self._count}"), list):
                found |= {end["connector"]: MemberEnd(**end) for end in part}
                self._count += 1
        except Exception as error:
            log.warning("What earlier attempts have finished cannot be read, so all connectors are run: %s", error)
            self._store, found = None, {}
        self.known = frozenset(found)
        return {name: end for name, end in found.items() if not end.retried}

    def add(self, ends: Iterable[MemberEnd]) -> None:
        """Keep these, too. Called as the attempt fails: that they cannot be stored must not hide why.

        An end that is known already counts no more once its connector, run again, has failed.
        """
        if self._store is None:
            return
        kept = (end for end in ends if end.state is None and (not end.retried or end.connector in self.known))
        try:
            for part in _parts(kept):
                self._store.set(f"{self._key}:{self._count}", part)
                self._count += 1
        except Exception as error:
            log.warning("What has been finished could not be stored, a retry runs it again: %s", error)


def _parts(ends: Iterable[MemberEnd]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for end in ends:
        kept = asdict(masked_end(end))
        if (length := len(json.dumps(kept))) > _MOST_OF_END and end.report is not None:
            kept["report"] = in_short(end.report)
            length = len(json.dumps(kept))
        if part and size + length > _MOST_OF_VALUE:
            yield part
            part, size = [], 0
        part.append(kept)
        size += length
    if part:
        yield part
