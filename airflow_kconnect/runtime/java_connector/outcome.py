"""What a hosted run has come to, for its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.hosted.worker.metrics import Counts
from airflow_kconnect.runs.end import Left
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector.sink_progress import Progress

_LEFT = {
    "records": Left.MAX_RECORDS,
    "duration": Left.MAX_DURATION,
    "caught up": Left.NOT_COMMITTED,
    "dry run": Left.DRY_RUN,
}
_GIVEN_NOTHING = (
    "the sink was given none of the records that are there: its consumers did not join their group in time, or begin"
    " elsewhere. The next run tries again; the log of Java may say more"
)
_NOT_COMMITTED = "the sink has taken all records and does not commit all of them yet; the next run gives it those again"


@dataclass
class Outcome:
    """Filled as the run proceeds.

    :param over: why it is over, see `Watch.over`.
    :param counts: what the tasks have done. :param tasks: how many there were.
    :param stopped: whether the plug-in has returned from all of its methods.
    :param places: which worker had which tasks, if there were several.
    """

    over: str = ""
    counts: Counts = field(default_factory=Counts)
    tasks: int = 0
    stopped: bool = True
    guarantee: str = "at_least_once"
    places: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def records(self) -> dict[str, int]:
        """The report's counts."""
        seen = self.counts
        return {
            "read": seen.read,
            "written": seen.written,
            "filtered": seen.filtered,
            "dead_lettered": seen.dead_lettered,
        }

    def notes(self, version: str | None) -> dict[str, Any]:
        """The report's notes about the run itself.

        :param version: of the plug-in.
        """
        notes: dict[str, Any] = {"hosted": True, "plugin_version": version, "ended": self.over}
        if self.counts.skipped:
            notes["skipped"] = self.counts.skipped
        if self.counts.failures:
            notes["record_failures"] = self.counts.failures
        if self.places:
            notes["workers"] = self.places
        return notes

    def left(self, sink: Progress | None) -> list[Left]:
        """Why not everything that was there at the start is committed, as far as can be known; a warning if a sink has
        taken it without having committed it.
        """
        if sink is None and self.over in ("caught up", "idle"):
            return [] if self.stopped else [Left.HUNG]
        if sink is not None and sink.caught_up(look=True):
            return []
        if self.over == "idle":
            text = _NOT_COMMITTED if self.counts.read else _GIVEN_NOTHING
            self.warnings.append(RunWarning(Kind.WAITING, text))
            return [Left.NOT_COMMITTED if self.counts.read else Left.SILENT]
        return [_LEFT[self.over]]
