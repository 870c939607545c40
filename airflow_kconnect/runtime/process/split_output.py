"""What the processes that move splits print, on its way to the log of the driver.

They do not have the driver's own output: the process that waits for the job would wait for everything that a plug-in
has started in them, and what they print could share a line with an event.
"""

from __future__ import annotations

import os
import select
import sys
import threading

_BLOCK = 64 * 1024


class SplitOutput:
    """A pipe, of which the driver has one end, and the processes have the other as their output."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        self._lock = threading.Lock()
        self._rest = b""  # a line without its end

    def use(self) -> None:
        """Make it the output of this process, and of those that it forks."""
        os.close(self._reading)
        os.dup2(self._writing, 1)
        os.dup2(self._writing, 2)
        os.close(self._writing)

    def follow(self) -> None:
        """Pass on what is printed, from now on, in the driver; after the fork, since this starts a thread."""
        os.close(self._writing)
        os.set_blocking(self._reading, False)
        threading.Thread(target=self._follow, name="split-output", daemon=True).start()

    def pass_on(self, *, last: bool = False) -> bool:
        """Pass on the lines printed so far; returns whether there can be more.

        :param last: what is left of a line, too.
        """
        with self._lock:
            more = True
            while more and (data := self._read()) is not None:
                more = bool(data)
                self._write(data)
            if self._rest and (last or not more):
                self._write(b"\n")
            return more

    def _follow(self) -> None:
        while self.pass_on():
            select.select([self._reading], [], [])

    def _read(self) -> bytes | None:
        """None: nothing new. Empty: all processes have ended."""
        try:
            return os.read(self._reading, _BLOCK)
        except BlockingIOError:
            return None

    def _write(self, data: bytes) -> None:
        lines, end, self._rest = (self._rest + data).rpartition(b"\n")
        if len(self._rest) > _BLOCK:
            lines, end, self._rest = lines + end + self._rest, b"\n", b""
        sys.stderr.buffer.write(lines + end)
        sys.stderr.buffer.flush()
