"""Errors of the local tools: what a user has to fix on this machine before trying again."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from airflow_kconnect.connect.errors import RetriableError, SetupError

__all__ = ["SetupError", "disk_full", "readable_os_errors"]

_CURE = "Make it writable or choose another folder."


@contextmanager
def readable_os_errors(folder: Path, cure: str = _CURE) -> Iterator[None]:
    """Turn operating system errors about a folder into one line that says what to do.

    :param cure: what to do about a folder that is not writable.
    :raises RetriableError: the disk is full.
    :raises SetupError: the folder is not writable.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(folder) from error
        why = error.strerror or str(error)
        raise SetupError(f"Cannot write {error.filename or folder}: {why}. {cure}") from error


def disk_full(folder: Path) -> RetriableError:
    """The error to raise when the disk of a folder is full."""
    return RetriableError(f"The disk that holds {folder} is full: free some space or choose another folder.")
