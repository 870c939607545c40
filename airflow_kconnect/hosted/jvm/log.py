"""What a hosted JVM logs: in a file of limited size, and warnings through to the log of this process."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO

log = logging.getLogger("kconnect.hosted")

# Everything from INFO on goes to the file, which is for looking closely; what is printed goes through to us.
_LOG4J2 = """\
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={folder}/connect.log
appender.file.filePattern={folder}/connect.log.%i
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %X{{connector.context}}%m (%c)%n
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=5MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=1
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%p %X{{connector.context}}%m (%c)%n%throwable
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
rootLogger.appenderRef.out.ref=out
rootLogger.appenderRef.out.level=WARN
# Prints each unknown key of each client.
logger.config.name=org.apache.kafka.clients
logger.config.level=ERROR
logger.unknown.name=org.apache.kafka.common.config.AbstractConfig
logger.unknown.level=ERROR
# Names each record of ours in the offset topic.
logger.offsets.name=org.apache.kafka.connect.storage.OffsetUtils
logger.offsets.level=ERROR
"""
_LEVEL = re.compile(r"(WARN|ERROR|FATAL) ")
_FRAME = re.compile(r"\s+(at |\.\.\. \d+ )")
# Connect tries again without end, and shows the connector as running.
_NO_TASKS = re.compile(r"Failed to reconfigure connector's tasks \((.*)\), ")
_LINES_PER_MINUTE = 300
_LONGEST_LINE = 4000
_LAST_LINES = 5


class LogPump:
    """Reads what a JVM prints: otherwise the JVM would stop when the pipe is full.

    :param folder: of the run; has the log file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._thread: threading.Thread | None = None
        self._begun, self._count, self._left_out = time.monotonic(), 0, 0
        self._level = logging.WARNING
        self._tasks_problems: dict[str, list[str]] = {}
        self._problem: list[str] | None = None

    @property
    def file(self) -> Path:
        """The log file, with an older one next to it; 10 MB in all."""
        return self._folder / "connect.log"

    def prepare(self) -> None:
        """Write the configuration of Java's logging."""
        (self._folder / "log4j2.properties").write_text(_LOG4J2.format(folder=self._folder))

    def follow(self, output: IO[str]) -> None:
        """Begin to read, in a thread."""
        self._thread = threading.Thread(target=self._read, args=(output,), name="hosted-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until everything is read: the JVM must have ended."""
        if self._thread is not None:
            self._thread.join(5)
        self._tell_left_out()

    def last_words(self) -> str:
        """The last errors, as a sentence to append; empty if there are none."""
        if self._thread is not None:
            self._thread.join(1)
        return f" Its last messages: {' / '.join(self._last)}" if self._last else ""

    def tasks_problem(self, connector: str) -> list[str]:
        """Why Connect could not make the configurations of a connector's tasks: exception and causes, at the last
        attempt.
        """
        return self._tasks_problems.get(connector, [])

    def _read(self, output: IO[str]) -> None:
        try:
            while line := output.readline(_LONGEST_LINE):
                self._pass_on(line.rstrip("\n"))
        except (OSError, ValueError):
            return  # the pipe was closed

    def _pass_on(self, line: str) -> None:
        head = _LEVEL.match(line)
        if head is not None:
            self._level = logging.WARNING if head[1] == "WARN" else logging.ERROR
            line = line[head.end() :]
            self._last.append(line)
            of_tasks = _NO_TASKS.search(line)
            self._problem = None
            if of_tasks is not None:
                self._problem = self._tasks_problems[of_tasks[1]] = []
        elif not _FRAME.match(line) and line:
            self._last.append(line)
            if self._problem is not None:
                self._problem.append(line)
        now = time.monotonic()
        if now - self._begun > 60:
            self._tell_left_out()
            self._begun, self._count = now, 0
        self._count += 1
        if self._count > _LINES_PER_MINUTE:
            self._left_out += 1
        else:
            log.log(self._level if head is not None or _FRAME.match(line) else logging.INFO, "%s", line)

    def _tell_left_out(self) -> None:
        if self._left_out:
            log.warning("%d more lines were printed by the connector, and left out here", self._left_out)
        self._left_out = 0
