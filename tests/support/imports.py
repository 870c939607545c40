"""What the Python processes of a job import, as Python itself tells."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import psutil

TELL_IMPORTS = "PYTHONPROFILEIMPORTTIME"
"""Environment variable: Python prints a line for each import."""


def imported(output: str) -> Counter[str]:
    """How many processes have imported each module. Those that are forked afterwards have it without a line."""
    lines = (line.split("|") for line in output.splitlines() if line.startswith("import time:"))
    return Counter(parts[2].strip() for parts in lines if len(parts) == 3)


def has_loaded_pandas(process: psutil.Process) -> bool:
    """Whether it has a library of pandas in its memory (Linux)."""
    return "/pandas/" in Path(f"/proc/{process.pid}/maps").read_text()
