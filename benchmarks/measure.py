"""What a pass has measured, rows of passes, and the CPU time of process trees."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import psutil

Say = Callable[[str], None]
Cpu = tuple[float, float, float]
"""CPU seconds: of a contender's own processes, of the servers, of the other contenders."""

CONNECT = "Kafka Connect"
OURS = "airflow_kconnect"
LIMIT = "Limit"
LOOP = "confluent-kafka"
"""A plain loop over that client and its serializers."""


@dataclass(frozen=True)
class Pass:
    """One pass of one contender.

    :param records: how many were moved while the clock ran.
    :param seconds: how long it ran.
    :param cpu_s: CPU seconds of the contender's own processes meanwhile.
    :param servers_cpu_s: those of the broker and the database.
    :param others_cpu_s: those of the contenders that wait for their turn.
    :param whole_s: of ours: seconds of the whole run in a running session; None of others.
    :param splits: of ours: how many there were.
    """

    records: int
    seconds: float
    cpu_s: float = 0.0
    servers_cpu_s: float = 0.0
    others_cpu_s: float = 0.0
    whole_s: float | None = None
    splits: int | None = None

    @property
    def rate(self) -> float:
        """Records per second."""
        return self.records / self.seconds


@dataclass
class Row:
    """The passes of one contender on one path.

    :param side: `CONNECT`, `OURS`, `LOOP` or `LIMIT`.
    :param setup: its settings, in words.
    :param parallel: how many tasks, cores or processes work at once.
    :param record_bytes: of one record.
    """

    path: str
    side: str
    setup: str
    parallel: int
    record_bytes: float
    passes: list[Pass] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Side and settings."""
        return f"{self.side}, {self.setup}"

    @property
    def median(self) -> float:
        """Records per second."""
        return statistics.median(each.rate for each in self.passes)

    @property
    def best(self) -> float:
        """Records per second."""
        return max(each.rate for each in self.passes)

    @property
    def cpu_us(self) -> float:
        """CPU microseconds per record of its own processes, in the median."""
        return statistics.median(each.cpu_s / each.records * 1e6 for each in self.passes)

    @property
    def servers_cpu_us(self) -> float:
        """The same of the broker and the database."""
        return statistics.median(each.servers_cpu_s / each.records * 1e6 for each in self.passes)

    @property
    def whole_run(self) -> float | None:
        """Records per second of whole runs in a running session, in the median; None if it is not ours."""
        found = [each.records / each.whole_s for each in self.passes if each.whole_s]
        return statistics.median(found) if found else None

    def ratios(self, other: Row) -> tuple[float, float, float]:
        """Times the rate of another: of the medians, and of the round where it is lowest and highest."""
        rounds = [mine.rate / its.rate for mine, its in zip(self.passes, other.passes, strict=True)]
        return self.median / other.median, min(rounds), max(rounds)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Row:
        """The row of `as_dict`."""
        return cls(**{**found, "passes": [Pass(**each) for each in found["passes"]]})


@dataclass(frozen=True)
class Contender:
    """One side with one setting.

    :param run: makes one pass; is called with a name that no other pass has.
    """

    side: str
    setup: str
    parallel: int
    run: Callable[[str], Pass]


def alternate(path: str, contenders: list[Contender], record_bytes: float, passes: int, say: Say) -> list[Row]:
    """Rounds in which each contender makes a pass, in turns; the first round warms all of them up and does not count.

    Every other round goes backwards: who comes first finds what the last one has left.
    """
    rows = [Row(path, each.side, each.setup, each.parallel, record_bytes) for each in contenders]
    for number in range(passes + 1):
        pairs = list(enumerate(zip(contenders, rows, strict=True)))
        for index, (contender, row) in pairs[:: -1 if number % 2 else 1]:
            found = contender.run(f"{path.split()[0]}-{index}-{number}".lower())
            if number:
                row.passes.append(found)
            what = f"pass {number}" if number else "warm-up"
            who = f"{contender.side}, {contender.setup}, parallel {contender.parallel}"
            cpu = f"{found.cpu_s:.1f} s of CPU, servers {found.servers_cpu_s:.1f} s, waiting {found.others_cpu_s:.1f} s"
            say(f"{path}, {what}: {who}: {found.rate:,.0f} records/s in {found.seconds:.1f} s ({cpu})")
    return rows


def number(value: float) -> str:
    """Three digits that count, with spaces between thousands."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}".replace(",", " ")


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU seconds that processes have used so far, with all their descendants, dead ones too."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            root = psutil.Process(pid)
            for process in (root, *root.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    total += sum(process.cpu_times()[:4])
    return total


@dataclass
class CpuMeter:
    """CPU seconds of the processes of a benchmark, from one look to the next.

    :param servers: pids of the broker and the database.
    :param contenders: pids of all that take turns.
    """

    servers: list[int]
    contenders: list[int] = field(default_factory=list)

    def look(self, own: Iterable[int]) -> Cpu:
        """So far: of `own`, of the servers, of the other contenders."""
        mine = set(own)
        return cpu_seconds(mine), cpu_seconds(self.servers), cpu_seconds(set(self.contenders) - mine)

    @staticmethod
    def between(before: Cpu, after: Cpu) -> Cpu:
        """What was used from one look to another."""
        own, servers, others = (late - early for early, late in zip(before, after, strict=True))
        return own, servers, others
