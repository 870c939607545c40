"""When a hosted run is done. Pure rules: what was seen goes in, the decision comes out."""

from __future__ import annotations

from dataclasses import dataclass, field

from airflow_kconnect.hosted.worker.metrics import Counts

# How many times longer a source may be silent while a thread of its tasks is at work.
_AT_WORK = 10


@dataclass(frozen=True)
class Limits:
    """What bounds a run.

    :param idle_s: a source that has delivered nothing for so long has caught up.
    :param first_s: how long a source may work until it delivers its first record.
    :param put_s: how long a sink may work on what it was given; None: it is a source.
    :param max_records: stop when at least that many are written; None: no limit.
    :param max_duration_s: stop after so long; None: no limit.
    """

    idle_s: float
    first_s: float = 0.0
    put_s: float | None = None
    max_records: int | None = None
    max_duration_s: float | None = None

    def at_work_s(self, seen: Counts) -> float:
        """How long nothing may change while a thread of the tasks is at work.

        A first query may take long, and so may a batch that a sink writes: a consumer leaves its group after
        `max.poll.interval.ms`, and what it has written cannot be committed then.
        """
        if self.put_s is not None:
            return max(self.put_s, self.idle_s)
        usual_s = _AT_WORK * self.idle_s
        return usual_s if seen.read else max(self.first_s, usual_s)


@dataclass
class Watch:
    """Watches a run; asked again and again, it says why the run is over: `caught up`, `records`, `duration`.

    :param began_s: when the tasks were running, by a monotonic clock.
    """

    limits: Limits
    began_s: float
    _counts: Counts = field(default_factory=Counts)
    _changed_s: float = 0.0
    _worked_s: float = 0.0

    def __post_init__(self) -> None:
        self._changed_s = self._worked_s = self.began_s

    def quiet_s(self, now_s: float) -> float:
        """For how long nothing has changed, in seconds."""
        return now_s - self._changed_s

    def over(
        self, now_s: float, seen: Counts, *, caught_up: bool | None = None, busy: bool = False, at_work: bool = False
    ) -> str | None:
        """Why the run is over; None: it is not.

        :param seen: what the tasks have done so far.
        :param caught_up: what is known of it otherwise, such as from offsets; None: only time can tell.
        :param busy: something is known to be under way, such as a snapshot: silence then means nothing.
        :param at_work: a task's thread computes or reads from a socket. Silence then counts only after a longer time,
            see `Limits.at_work_s`: there are sources that ask for records without a pause, or wait for them in a read.
        """
        if seen != self._counts or seen.active or busy:
            self._counts, self._changed_s = seen, now_s
        if at_work:
            self._worked_s = now_s
        limits = self.limits
        if limits.max_records is not None and seen.written >= limits.max_records:
            return "records"
        if limits.max_duration_s is not None and now_s - self.began_s >= limits.max_duration_s:
            return "duration"
        if caught_up:
            return "caught up"
        silent = now_s - max(self._changed_s, self._worked_s) >= limits.idle_s
        return "idle" if silent or self.quiet_s(now_s) >= limits.at_work_s(seen) else None
