"""Ends a program together with everything that it started, including processes that have left its process group."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable

import psutil


def kill_tree(pid: int, *, grace_s: float = 10.0) -> None:
    """End a process that was started in its own session, with all its descendants.

    All get SIGTERM, and after `grace_s` those still running get SIGKILL. The session includes processes that a walk
    from parent to child misses: PySpark's workers create their own process group, and lose their parent when it ends
    first. The process itself must not have been waited for yet, so that its id cannot belong to another one; its exit
    code is left for the caller that waits for it. Interrupting the wait proceeds to SIGKILL at once.

    :param pid: id of the process, which is the id of its session too; for another process its descendants are
        found by walking only.
    """
    members = _family(pid)
    _signal(members, force=False)
    with contextlib.suppress(KeyboardInterrupt):
        _wait(members, grace_s)
    # Looked up again: a daemon may have forked between the first lookup and the signal.
    leftover = _alive({*members, *_family(pid)})
    _signal(leftover, force=True)
    _wait(leftover, 5.0)


def _family(pid: int) -> set[psutil.Process]:
    family = {process for process in psutil.process_iter() if _session(process.pid) == pid}
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        family |= {root, *root.children(recursive=True)}
    return family


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _signal(processes: Iterable[psutil.Process], *, force: bool) -> None:
    for process in processes:
        # psutil compares the start time first: a reused id gets no signal.
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill() if force else process.terminate()


def _wait(processes: Iterable[psutil.Process], timeout_s: float) -> None:
    deadline_s = time.monotonic() + timeout_s
    while _alive(processes) and time.monotonic() < deadline_s:
        time.sleep(0.05)


def _alive(processes: Iterable[psutil.Process]) -> set[psutil.Process]:
    """Those still running. A zombie is done; `psutil.wait_procs` would take its exit code from its parent."""
    return {process for process in processes if is_alive(process)}


def is_alive(process: psutil.Process) -> bool:
    """Whether a process is running; one that has ended but was not yet waited for is not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
