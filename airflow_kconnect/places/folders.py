"""What all that writes into folders shares: hidden names, errors that name the path, durable names."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from airflow_kconnect.places.system_errors import system_error

HIDDEN_SUFFIX = r"\.[0-9a-f]{32}\.tmp"
"""Regular expression for what follows the dot and the name in a `hidden_name`."""
_HIDDEN = re.compile(rf"\.(?P<name>.+){HIDDEN_SUFFIX}")


def hidden_name(name: str) -> str:
    """A unique name for a file that readers must not see yet, in the same folder."""
    above, slash, last = name.rpartition("/")
    return f"{above}{slash}.{last}.{uuid.uuid4().hex}.tmp"


def shown_name(name: str) -> str | None:
    """What a file with a `hidden_name` will be named, below the same address; None: it has none."""
    above, slash, last = name.rpartition("/")
    match = _HIDDEN.fullmatch(last)
    return f"{above}{slash}{match['name']}" if match else None


@contextlib.contextmanager
def named_errors(path: str | Path, verb: str = "write") -> Iterator[None]:
    """Turn operating system errors into ours and name the path.

    :param verb: what could not be done with it.
    :raises RetriableError: the disk is full or unavailable.
    :raises DataError: anything else.
    """
    try:
        yield
    except OSError as error:
        raise system_error(f"cannot {verb} {path}", error) from error


def sync_folder(folder: str | Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
