"""Keeps the memory of Python workers flat: what C libraries free must be returned to the system."""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8  # malloc.h


def use_few_arenas() -> None:
    """Let all threads share two memory arenas (glibc; elsewhere this does nothing).

    Each Kafka client starts threads, and each new thread would have an arena of its own that never shrinks.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 2)


def give_memory_back() -> None:
    """Return freed memory to the system (glibc): a worker reads many splits, and would keep the peak of each."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
