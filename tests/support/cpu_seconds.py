"""How many CPU seconds each test file has used, with all processes that it has started, at the end of a test run.

Seconds of CPU say what a file costs, however busy the machine is. A server that lives longer than its file, such as the
shared broker, counts for the file in which it worked. What has left the process tree, such as a broker that a command
has started, is not seen.
"""

from __future__ import annotations

import resource
from typing import Any

import psutil
import pytest

# Files below are not worth a line.
_SHOWN_FROM_S = 5.0
_KEY = "cpu_seconds"


class CpuSeconds:
    """A pytest plugin, in each process that runs tests and in the one that distributes them."""

    def __init__(self) -> None:
        self._files: dict[str, float] = {}
        self._before_s = 0.0

    def pytest_collection_finish(self) -> None:
        """Imports of test files count for none of them."""
        self._before_s = used_s()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        """Look at the processes after the last test of each file: that takes milliseconds."""
        yield
        file = _file(item)
        if nextitem is None or _file(nextitem) != file:
            now_s = used_s()
            self._add({file: max(0.0, now_s - self._before_s)})  # less if something has left the process tree
            self._before_s = now_s

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A process of xdist hands over its figures."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_KEY] = self._files

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over the figures of a process that has ended."""
        self._add(getattr(node, "workeroutput", {}).get(_KEY, {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the files with the highest figures."""
        shown = sorted(((s, file) for file, s in self._files.items() if s >= _SHOWN_FROM_S), reverse=True)
        if shown:
            terminalreporter.section(f"CPU seconds of test files, {sum(self._files.values()):.0f} in all")
            for seconds, file in shown:
                terminalreporter.write_line(f"{seconds:6.1f}  {file}")

    def _add(self, figures: dict[str, float]) -> None:
        for file, seconds in figures.items():
            self._files[file] = self._files.get(file, 0.0) + seconds


def used_s() -> float:
    """CPU seconds of this process, of its descendants, and of those that have ended and were waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = psutil.Process()
    total: float = sum(own.cpu_times()[:2]) + ended.ru_utime + ended.ru_stime
    for process in own.children(recursive=True):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue
    return total


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
