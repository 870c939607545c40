"""A lock that processes of this machine share: one works, the others wait."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the lock of a file, which is made, for as long as the block. It ends with the process, however that ends.

    :param waiting: called if another process has it, before this one waits.
    """
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
