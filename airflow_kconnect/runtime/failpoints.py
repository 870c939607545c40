"""Points at which a test can stop a run to kill it there; nothing at all outside tests.

``KCONNECT_FAILPOINT=<name>:<block|touch>:<path>`` counts only when the process owner also sets ``KCONNECT_TESTING=1``:
no configuration, request or DAG parameter can set either.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def failpoint(name: str) -> None:
    """Create the test's file when the point is reached; then go on (``touch``) or wait to be killed (``block``).

    The file is created once: a second run with the same environment passes.
    """
    wanted = os.environ.get("KCONNECT_FAILPOINT")
    if not wanted or os.environ.get("KCONNECT_TESTING") != "1":
        return
    point, action, path = wanted.split(":", 2)
    if point != name:
        return
    try:
        Path(path).open("x").close()
    except FileExistsError:
        return
    while action == "block":
        time.sleep(0.1)
