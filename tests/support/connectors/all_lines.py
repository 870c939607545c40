"""A source function without cursor and state: each of its runs sends everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airflow_kconnect.sdk import source


@source
def all_lines(file: str) -> Iterator[dict[str, Any]]:
    """Lines of a file."""
    yield from ({"n": n, "text": text} for n, text in enumerate(Path(file).read_text().splitlines()))
