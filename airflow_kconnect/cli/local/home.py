"""Where commands keep data on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from airflow_kconnect.machine.cache import expanded


def home_folder() -> Path:
    """Where commands keep what is theirs: `$KCONNECT_HOME`, or `~/.airflow_kconnect`."""
    return expanded(os.environ.get("KCONNECT_HOME") or "~/.airflow_kconnect")
