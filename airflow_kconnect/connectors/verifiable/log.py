"""The log of the verifiable connectors: a file of JSON lines, where Connect's tools print to standard output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class JsonLog:
    """Appends to a file; the lines of one call stay together even if several tasks append to the file.

    :param path: the file; None discards everything.
    """

    def __init__(self, path: str | None) -> None:
        self._file = Path(path).open("ab", buffering=0) if path else None  # noqa: SIM115

    def write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Append one line per mapping. Values that JSON does not support are written as text."""
        if self._file:
            text = "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines)
            self._file.write(text.encode())

    def sync(self) -> None:
        """Wait until everything is on disk."""
        if self._file:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Called last."""
        if self._file:
            self._file.close()


def log_path(prefix: str | None, *parts: object) -> str | None:
    """``prefix-part-part``; None if there is no prefix."""
    return "-".join(map(str, (Path(prefix).absolute(), *parts))) if prefix else None


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
