"""Lets in callers who prove that they know a secret of the run: soon, and few at once, for anyone may call."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

PROOF_S = 10.0
"""How long a caller may take for its proof."""


class Door:
    """Each call has a thread of its own, of which those without a proof are bounded.

    :param key: that both ends know.
    :param most: callers that may prove it at once; others wait in the system's queue.
    :param within_s: for the proof; the connection is cut then.
    """

    def __init__(self, key: bytes, *, most: int = 64, within_s: float = PROOF_S) -> None:
        self._key, self._within_s = key, within_s
        self._places = threading.BoundedSemaphore(most)

    def receive(self, accept: Callable[[], Connection], then: Callable[[Connection], None], name: str) -> None:
        """Accept one call, as soon as there is a place for it.

        :param accept: waits for it. Its errors are raised.
        :param then: called with the connection, in a thread of that name; it begins with `prove`.
        """
        self._places.acquire()
        try:
            connection = accept()
            threading.Thread(target=then, args=(connection,), name=name, daemon=True).start()
        except BaseException:
            self._places.release()
            raise

    def prove(self, connection: Connection) -> None:
        """Have the caller prove it, and prove it to the caller; frees the place, whatever happens.

        :raises Exception: of several classes: it does not know the key, has hung up, or took too long.
        """
        line = socket.socket(fileno=os.dup(connection.fileno()))
        watchdog = threading.Timer(self._within_s, _cut, [line])
        try:
            watchdog.start()
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
        finally:
            watchdog.cancel()
            line.close()
            self._places.release()


def _cut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
