"""A data interval that is moved again, independently of the live offsets, which stay unchanged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Replay:
    """One replay.

    :param start_ms: start of the interval in ms since the epoch.
    :param end_ms: its end, exclusive.
    :param key: another attempt with the same key resumes where the previous one stopped, and does nothing if it had
        finished; a different key replays the interval again.
    :param written: of a sink: where sources of the same DAG run have written what they replayed, as `RunReport.ranges`.
        In those topics the sink takes these records, whatever their timestamps.
    """

    start_ms: int
    end_ms: int
    key: str
    written: Sequence[Mapping[str, Any]] = ()

    def name(self, connector: str) -> str:
        """The name under which the replay keeps its own offsets and transactional ids."""
        return f"{connector}.replay.{self.key}"

    def exclusive_name(self, connector: str) -> str:
        """The name under which replays of this interval fence each other, whatever their keys: they write to the same
        place.
        """
        interval = hashlib.sha256(repr((self.start_ms, self.end_ms)).encode()).hexdigest()[:16]
        return f"{connector}.replay.{interval}"

    def __str__(self) -> str:
        return f"{_iso(self.start_ms)}/{_iso(self.end_ms)}"

    @property
    def folder(self) -> str:
        """The interval as the name of a folder."""
        return str(self).replace(":", "-").replace("/", "--")


_OF_REPLAY = re.compile(r".+\.replay\.[0-9a-f]{16}", re.DOTALL)


def is_of_replay(name: str) -> bool:
    """Whether a name is one under which replays keep their own offsets."""
    return _OF_REPLAY.fullmatch(name) is not None


def _iso(ms: int) -> str:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    text = moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")
