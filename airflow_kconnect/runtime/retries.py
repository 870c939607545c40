"""How often a failed operation is retried: the rule of ``RetryWithToleranceOperator``, for ``errors.retry.*``."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FIRST_MS = 300


@dataclass(frozen=True)
class Retries:
    """The keys ``errors.retry.timeout`` and ``errors.retry.delay.max.ms`` of a connector.

    :param timeout_ms: for how long; 0: not at all, -1: without end.
    :param delay_max_ms: the longest pause between two attempts.
    """

    timeout_ms: int = 0
    delay_max_ms: int = 60_000

    @classmethod
    def of(cls, common: Mapping[str, Any]) -> Retries:
        """Those of a validated configuration."""
        return cls(common.get("errors.retry.timeout") or 0, common.get("errors.retry.delay.max.ms", 60_000))

    @property
    def limit_s(self) -> float:
        """For how many seconds after the first attempt."""
        return math.inf if self.timeout_ms < 0 else self.timeout_ms / 1000

    def pause_s(self, attempt: int, first_s: float, until_s: float = math.inf) -> float | None:
        """The pause after an attempt; None: it was the last one.

        :param first_s: when the first attempt was made, on the clock of `time.monotonic`.
        :param until_s: when the run's time is over.
        """
        left_s = min(first_s + self.limit_s, until_s) - time.monotonic()
        return None if left_s <= 0 else min(self.delay_s(attempt), left_s)

    def delay_s(self, attempt: int) -> float:
        """The pause after an attempt, the first of which is 1: it doubles; beyond the longest one it is random."""
        delay_ms = _FIRST_MS << min(attempt - 1, 32)
        return (delay_ms if delay_ms <= self.delay_max_ms else random.random() * self.delay_max_ms) / 1000


NO_RETRIES = Retries()
