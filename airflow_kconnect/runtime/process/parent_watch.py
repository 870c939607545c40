"""The Python driver dies with the processes that started it: an orphan must not keep committing.

Fencing makes an orphan harmless; this ends it. When the driver is gone, the JVM ends by itself, and with it executors
and Python workers.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

import psutil

from airflow_kconnect.runs.spec import SUBMITTER

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def die_with_parent() -> None:
    """Have this process killed when its parent (the JVM of spark-submit) or the process waiting for that ends, however
    they end.

    On Linux the kernel does the former; a watching thread does the latter, and covers other systems and the moment
    before the kernel was asked.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _watch_in_thread(parent, _submitter())


def end_with_parent(parent: int) -> None:
    """Have this process, a fork of `parent`, killed when that ends; called by its only thread."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended before the kernel was asked
            os.kill(os.getpid(), signal.SIGKILL)
    else:
        _watch_in_thread(parent, None)


def name_process(name: str) -> None:
    """Name this process, for `top` and the like (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def _watch_in_thread(parent: int, submitter: int | None) -> None:
    threading.Thread(target=_watch, args=(parent, submitter), name="parent-watch", daemon=True).start()


def _submitter() -> int | None:
    """The process that waits for spark-submit; None if there is none, or if it is not an ancestor."""
    named = os.environ.get(SUBMITTER, "")
    if not named.isdigit():
        return None
    pid = int(named)
    return None if _is_alive(pid) and not _descends_from(pid) else pid


def _watch(parent: int, submitter: int | None) -> None:
    while os.getppid() == parent and (submitter is None or _descends_from(submitter)):
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def _descends_from(pid: int) -> bool:
    """Whether it is an ancestor of this process. Processes whose parent has ended get another one."""
    process: psutil.Process | None = psutil.Process()
    try:
        while process is not None and process.pid != pid:
            process = process.parent()
    except psutil.NoSuchProcess:
        return False
    return process is not None


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
