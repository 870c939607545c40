"""Files that were written, and wait for their store while others are being written."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor, wait

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.places.base import Place, StagedFile, Staging

_THREADS = 4
"""As many wait at a time: each may still have a part on this machine."""
_ABORT_S = 10


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
        wait([future for _, future in self._files], timeout=_ABORT_S)
        for staging, future in self._files:
            if not future.done() or future.cancelled() or future.exception() is not None:
                staging.abort()
                continue
            with contextlib.suppress(ConnectError):
                place.discard(future.result())
