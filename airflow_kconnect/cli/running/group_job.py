"""The job of many connectors: run, shown while it runs, and how each of them has ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.running.group_display import group_display_of
from airflow_kconnect.cli.running.job import JobEnd, run_job
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.running.single import INTERRUPTED, INTERRUPTED_EVENT, INTERRUPTED_TEXT, NO_REPORT
from airflow_kconnect.cli.worker import resolved_worker
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.runs.events import EXIT_INTERNAL, EXIT_OK
from airflow_kconnect.runs.group import GroupSpec, MemberEnd, exit_code_of, name_of
from airflow_kconnect.submit.group import GroupProgress, failed
from airflow_kconnect.submit.statuses import show_failures


@dataclass
class GroupOutcome:
    """How a group ended.

    :param order: what the command says of the connectors, in the order in which they were named.
    :param ends: by the same names.
    :param exit_code: if it is not that of the ends. :param tail: the job's last lines, if it could not say how its
        connectors ended.
    :param hint: how later jobs would start sooner, if this one has started Spark.
    """

    order: list[str] = field(default_factory=list)
    ends: dict[str, MemberEnd] = field(default_factory=dict)
    exit_code: int = EXIT_OK
    tail: Sequence[str] = ()
    hint: str | None = None

    def add(self, ends: Iterable[MemberEnd]) -> None:
        """How some of them have ended."""
        self.ends |= {end.connector: end for end in ends}

    def in_order(self) -> list[MemberEnd]:
        """All ends."""
        return [self.ends[name] for name in self.order]


class GroupJob:
    """One job of a group. :param outcome: gets the ends of its connectors."""

    def __init__(self, spec: GroupSpec, outcome: GroupOutcome) -> None:
        self._spec, self._outcome = spec, outcome
        self._progress = GroupProgress(spec.names)
        self._tail: deque[str] = deque(maxlen=40)

    def run(self, options: RunOptions, conf: Mapping[str, str], console: Console) -> None:
        """Run it to its end. Ctrl-C ends it, too. :param conf: Spark's settings."""
        try:
            self._ended(self._submitted(options, conf, console))
        except (KeyboardInterrupt, SystemExit) as error:
            self._show_running(INTERRUPTED_TEXT, ended_by_user=True)
            if isinstance(error, SystemExit):
                raise
            self._outcome.add(self._progress.ended)
            self._outcome.add(MemberEnd(name, error=INTERRUPTED_EVENT) for name in self._progress.silent)
            self._outcome.exit_code = INTERRUPTED
        except ConnectError as error:
            self._outcome.add(failed(name, error) for name in self._spec.names)

    def _submitted(self, options: RunOptions, conf: Mapping[str, str], console: Console) -> JobEnd:
        with group_display_of(console, self._progress, options.verbose) as display:

            def on_event(event: dict[str, Any]) -> None:
                display.event(event, self._progress.take(event))

            def on_line(line: str) -> None:
                self._tail.append(line)
                display.line(line)

            return run_job(
                self._spec,
                options,
                conf,
                configs=[run.config for run in self._spec.runs],
                name=f"kconnect {len(self._spec.runs)} connectors",
                on_event=on_event,
                on_line=on_line,
            )

    def _ended(self, job: JobEnd) -> None:
        progress, outcome = self._progress, self._outcome
        outcome.hint = job.hint
        if not progress.silent:
            outcome.add(progress.ended)
            if job.exit_code not in (EXIT_OK, exit_code_of(progress.ended)):
                outcome.exit_code, outcome.tail = EXIT_INTERNAL, tuple(self._tail)
        elif progress.ended or progress.running or progress.error:
            text = f"{job.program} ended with exit code {job.exit_code} before this connector's run had ended"
            outcome.add(progress.ends(f"{text}; the next run resumes it"))
            outcome.tail = () if progress.error else tuple(self._tail)
            self._show_running(text, ended_by_user=False)
        else:  # as for a single one: it says nothing about the connectors
            event = {"error": NO_REPORT, "message": job.text, "exit_code": EXIT_INTERNAL, "errors": None}
            outcome.add(MemberEnd(name, error=event) for name in self._spec.names)
            outcome.tail = tuple(self._tail)

    def _show_running(self, text: str, *, ended_by_user: bool) -> None:
        """Write how the runs have ended that have begun: of the others there is nothing to say."""
        running = [(run, text) for run in self._spec.runs if name_of(run.config) in self._progress.running]
        show_failures(running, lambda: resolved_worker(self._spec.runs[0].worker), ended_by_user=ended_by_user)
