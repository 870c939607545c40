"""Files that were written, and wait for their store while others are being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

from airflow_kconnect.places.base import Place, StagedFile, Staging

_THREADS = 4
"""As many wait at a time: each may still have a part on this machine."""
_ABORT_S = 10
_REMOVE_THREADS, _REMOVE_S = 8, 30


class EndingFiles:
    """Of a task. `staged` or `abort` must be called."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-ending")
        self._files: list[tuple[Staging, Future[StagedFile]]] = []

    def add(self, staging: Staging) -> None:
        """All of a file was written; nothing else may be done with it.

        :raises ConnectError: one that was added before has failed.
        """
        if len(self._files) >= _THREADS:
            self._files[-_THREADS][1].result()
        self._files.append((staging, self._pool.submit(staging.finish)))

    def staged(self) -> list[StagedFile]:
        """All that were added, in this order, once they are durable.

        :raises ConnectError: one has failed.
        """
        with self._pool:
            return [future.result() for _, future in self._files]

    def abort(self, place: Place) -> None:
        """Remove what was written. Raises nothing: the next run cleans up as well."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        wait([future for _, future in self._files if not future.cancelled()], timeout=_ABORT_S)
        remove_soon(
            partial(place.discard, future.result()) if _has_ended(future) else staging.abort
            for staging, future in self._files
        )


def _has_ended(file: Future[StagedFile]) -> bool:
    return file.done() and not file.cancelled() and file.exception() is None


def remove_soon(removals: Iterable[Callable[[], object]]) -> None:
    """Remove what was written, several files at a time, as far as it takes seconds. Raises nothing: the next run cleans
    up as well, while a task with a thousand files would wait for hours for a store that does not answer.
    """
    pool = ThreadPoolExecutor(_REMOVE_THREADS, thread_name_prefix="kconnect-abort")
    wait([pool.submit(removal) for removal in removals], timeout=_REMOVE_S)
    pool.shutdown(wait=False, cancel_futures=True)
