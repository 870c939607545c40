"""Calls of the Kafka client that might never return."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def bounded(call: Callable[[], T], limit_s: float) -> T:
    """What a call returns or raises.

    :raises TimeoutError: it has done neither within `limit_s` seconds. The thread in which it runs is left behind: it
        does not keep the process from ending.
    """
    answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # it belongs to the caller
            answers.put((None, error))

    threading.Thread(target=run, name="bounded-call", daemon=True).start()
    try:
        result, error = answers.get(timeout=limit_s)
    except Empty:
        raise TimeoutError(f"no answer within {limit_s:g} s") from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]
