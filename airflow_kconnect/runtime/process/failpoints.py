"""Points at which a test can stop a run to kill it there; they do nothing outside tests.

``KCONNECT_FAILPOINT=<name>:<block|touch>:<path>`` takes effect only if the process owner also sets
``KCONNECT_TESTING=1``: no configuration, request or DAG parameter can set either.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def failpoint(name: str) -> None:
    """Create the test's file when the point is reached; then continue (``touch``) or wait until it is deleted
    (``block``).

    This happens once: later callers (a second attempt of a task) pass.
    """
    wanted = os.environ.get("KCONNECT_FAILPOINT")
    if not wanted or os.environ.get("KCONNECT_TESTING") != "1":
        return
    point, action, path = wanted.split(":", 2)
    if point != name:
        return
    reached, passed = Path(path), Path(f"{path}.passed")
    try:
        passed.open("x").close()
    except FileExistsError:
        return
    reached.touch()
    while action == "block" and reached.exists():
        time.sleep(0.05)
