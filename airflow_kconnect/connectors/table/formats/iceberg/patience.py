"""How often something is tried again that other writers have prevented, and how long it waits in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """Iterates over attempts: waits before each but the first one, longer each time.

    :param sleep: a test does not wait.
    """

    attempts: int = 10
    first_s: float = 0.1
    longest_s: float = 10.0
    sleep: Callable[[float], object] = time.sleep

    def __iter__(self) -> Iterator[int]:
        wait_s = self.first_s
        for attempt in range(self.attempts):
            if attempt:
                self.sleep(wait_s * random.uniform(0.5, 1.0))
                wait_s = min(2 * wait_s, self.longest_s)
            yield attempt
