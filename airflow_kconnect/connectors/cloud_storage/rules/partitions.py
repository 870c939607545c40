"""Which folder a record belongs to: paths of moments, in batches. Pure rules."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connectors.cloud_storage.rules.path_format import PathFormat, time_zone

if TYPE_CHECKING:
    import numpy as np

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
FIRST_MS, LAST_MS = -62_135_510_400_000, 253_402_214_400_000
"""Years 1 to 9999, less a day for the zones."""
CONTROL = r"[\x00-\x1f\x7f]"
"""Characters, such as line ends, that Google and Azure refuse in names, and that S3 cannot list uploads with."""
NOT_A_FOLDER = rf"(^|/)(\.[^/]*)?(/|$)|{CONTROL}"
"""What is in a path that is not allowed: an empty name, one that begins with a dot, control characters."""
LONGEST_PATH = 600
"""Bytes of a path of fields: names of objects have at most 1024."""
_SLOT_MS = 900_000
"""Distances from UTC change at quarters of an hour."""
_UTC = datetime.UTC


class Extractor(StrEnum):
    """Where the moment of a record is from."""

    WALLCLOCK = "Wallclock"
    RECORD = "Record"
    RECORD_FIELD = "RecordField"


@dataclass(frozen=True)
class ByKafka:
    """DefaultPartitioner."""

    def folder(self, partition: int) -> str:
        """The folder of a partition's records."""
        return f"partition={partition}"


@dataclass(frozen=True)
class ByFields:
    """FieldPartitioner.

    :param names: fields, those within others with dots. :param labels: whether their names are in the path.
    """

    names: tuple[str, ...]
    labels: bool = True
    delim: str = "/"


@dataclass(frozen=True)
class ByTime:
    """TimeBasedPartitioner, and Daily and Hourly.

    :param duration_ms: moments are rounded down to multiples of it, in local time.
    :param field: of the moment, for a `RECORD_FIELD`.
    """

    format: PathFormat
    duration_ms: int
    extractor: Extractor = Extractor.WALLCLOCK
    field: str = "timestamp"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_text", "_zone", "_distances")}

    @cached_property
    def _text(self) -> Callable[[int], str]:
        return self.format.texts()

    @cached_property
    def _zone(self) -> datetime.tzinfo:
        return time_zone(self.format.zone)

    @cached_property
    def _distances(self) -> dict[int, int]:
        """Slot -> distance of local time from UTC, ms."""
        return {}

    def folders(self, times_ms: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The folders of moments, and the index of each moment's folder.

        Python is called for different folders only, not for each record.
        """
        import numpy as np

        slots, which = np.unique(times_ms // _SLOT_MS, return_inverse=True)
        local = times_ms + np.array([self._distance(slot) for slot in slots.tolist()], np.int64)[which]
        # As Java divides: towards zero.
        buckets, codes = np.unique(local - np.fmod(local, self.duration_ms), return_inverse=True)
        texts = [self._text(bucket) for bucket in buckets.tolist()]
        folders = list(dict.fromkeys(texts))
        if len(folders) == len(texts):
            return folders, codes
        positions = {folder: n for n, folder in enumerate(folders)}
        return folders, np.array([positions[text] for text in texts], np.int64)[codes]

    def _distance(self, slot: int) -> int:
        if (known := self._distances.get(slot)) is not None:
            return known
        moment = datetime.datetime.fromtimestamp(0, _UTC) + datetime.timedelta(milliseconds=slot * _SLOT_MS)
        distance = moment.astimezone(self._zone).utcoffset() or datetime.timedelta()
        found = self._distances[slot] = distance // datetime.timedelta(milliseconds=1)
        return found


Partitioning = ByKafka | ByFields | ByTime
