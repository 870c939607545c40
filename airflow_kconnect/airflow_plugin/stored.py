"""What Airflow's database has, as values: moments and XComs."""

from __future__ import annotations

import json
from typing import Any


def epoch_ms(moment: Any) -> int | None:
    """A moment in milliseconds since the epoch."""
    return None if moment is None else int(moment.timestamp() * 1000)


def xcom_value(stored: Any) -> Any:
    """What an XCom holds; None if it is a text of a backend of the installation's own."""
    try:
        return json.loads(stored) if isinstance(stored, str) else stored
    except ValueError:
        return None
