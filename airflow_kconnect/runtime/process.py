"""The Python driver dies with the process that started it: an orphan must not go on committing.

Fencing makes an orphan harmless; this makes it go away.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have this process killed when its parent (the JVM of spark-submit) ends, however it ends.

    On Linux the kernel does it; a watching thread covers other systems and the moment before the request.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
