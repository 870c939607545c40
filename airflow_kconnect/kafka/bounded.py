"""Time limits for calls of the Kafka client that might never return."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def bounded(call: Callable[[], T], limit_s: float) -> T:
    """Return what a call returns, or raise what it raises.

    :raises TimeoutError: the call has done neither within `limit_s` seconds. Its thread is abandoned: it does not keep
        the process from exiting.
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
