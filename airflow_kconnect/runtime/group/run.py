"""Runs the connectors of a group in one process: some at once, in their order, each isolated from the others."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from graphlib import TopologicalSorter

from airflow_kconnect.connect.errors import ConnectError, InternalError, named
from airflow_kconnect.runs.group import GroupSpec, MemberEnd, name_of, predecessors, priority_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.group.shared_spark import SharedSpark, weight_of
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.memory import give_memory_back, use_few_arenas
from airflow_kconnect.runtime.process.progress import emit, emit_error, speaking_for
from airflow_kconnect.runtime.process.session import LazySession

log = logging.getLogger("kconnect.group")

RunOne = Callable[[RunSpec, LazySession], RunReport]


class GroupRun:
    """One run of a group. It raises nothing for what a connector does: see `ends`.

    :param spec: names are unique, and the order is possible.
    :param run: runs one connector, in a thread of its own; what it raises is that connector's failure.
    :param spark: shared by all of them.
    :param idle: the reports of connectors that have nothing new, by name: they are not run.
    :param tell_idle: writes how they have ended to where runs do.
    :param hide: of a connector: replaces secrets in texts.
    """

    def __init__(
        self,
        spec: GroupSpec,
        run: RunOne,
        spark: SharedSpark | None = None,
        idle: Callable[[tuple[RunSpec, ...]], Mapping[str, RunReport]] = lambda runs: {},
        tell_idle: Callable[[Collection[str]], None] = lambda names: None,
        hide: Callable[[str], str] = str,
    ) -> None:
        self._spec, self._run, self._hide = spec, run, hide
        self._idle, self._tell_idle = idle, tell_idle
        self._spark = spark or SharedSpark("kconnect group", weights(spec))
        configs = [run.config for run in spec.runs]
        self._specs = {name_of(run.config): run for run in spec.runs}
        self._first = {name_of(config): (-priority_of(config), n) for n, config in enumerate(configs)}
        self._before = predecessors(configs)
        self._order = TopologicalSorter(self._before)
        self._ready: list[str] = []
        self._changed = threading.Condition()
        self._ends: dict[str, MemberEnd] = {}

    def run(self) -> list[MemberEnd]:
        """Run all; returns how each has ended, in the order of the group."""
        self._order.prepare()
        self._end_idle()
        gc.freeze()  # what is there by now stays: the collections after each run need not look at it
        use_few_arenas()
        threads = [
            # Not daemons: a process that ends waits for what they are about to commit.
            threading.Thread(target=self._serve, name=f"connector-{n}")
            for n in range(min(self._spec.max_parallel, len(self._specs) - len(self._ends)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.unfreeze()
        return [self._ends[name] for name in self._spec.names]

    def _end_idle(self) -> None:
        """End those that have nothing new, before the others start. Whatever goes wrong here, they are run instead."""
        try:
            reports = self._idle(self._spec.runs)
        except (Exception, SystemExit) as error:
            if not isinstance(error, ConnectError):
                log.exception("unexpected error")
            log.warning("which connectors have nothing new is not known: %s", self._hide(str(error)))
            return
        names = still_idle(reports, self._before)
        self._tell_idle(names)
        for name in names:
            report = reports[name].as_dict()
            self._ends[name] = MemberEnd(name, report)
            with speaking_for(name):
                emit("report", report=report)

    def _serve(self) -> None:
        """Run one connector after another, in this thread, until there is none left."""
        while (name := self._next()) is not None:
            end = self._ended(name)
            gc.collect()  # a run leaves clients of Kafka in cycles: without it, hundreds of open connections
            give_memory_back()
            with self._changed:
                self._ends[name] = end
                self._order.done(name)
                self._changed.notify_all()

    def _next(self) -> str | None:
        """Wait for the next connector that may start; None: there is none left."""
        with self._changed:
            while True:
                self._take_ready()
                if self._ready:
                    self._ready.sort(key=self._first.__getitem__, reverse=True)
                    return self._ready.pop()
                if not self._order.is_active():
                    return None
                self._changed.wait()

    def _take_ready(self) -> None:
        """Those whose predecessors have ended, however that was: what is there already can be moved."""
        while names := self._order.get_ready():
            for name in names:
                if name in self._ends:
                    self._order.done(name)
                    self._changed.notify_all()
                elif name in self._specs:
                    self._ready.append(name)

    def _ended(self, name: str) -> MemberEnd:
        """Run a connector. Whatever it raises ends that connector alone: the other threads wait for its end."""
        with speaking_for(name):
            try:
                report = self._run(self._spec_of(name), self._spark.session_of(name)).as_dict()
                emit("report", report=report)
            except ConnectError as error:
                return MemberEnd(name, error=emit_error(error))
            except BaseException as error:  # a connector may even call `sys.exit`
                if (ended := jvm.unexpected_end()) is not None:
                    return MemberEnd(name, error=emit_error(ended))
                log.exception("unexpected error")
                return MemberEnd(name, error=emit_error(InternalError(self._hide(named(error)))))
            return MemberEnd(name, report)

    def _spec_of(self, name: str) -> RunSpec:
        """The run of a connector: a sink's replay takes what sources before it have replayed."""
        spec = self._specs[name]
        if spec.replay is None:
            return spec
        with self._changed:
            reports = [self._ends[other].report for other in self._before[name]]
        moved = [report for report in reports if report is not None and report["replay"] == str(spec.replay)]
        written = [entry for report in moved for entry in report["ranges"]]
        return replace(spec, replay=replace(spec.replay, written=[*spec.replay.written, *written]))


def still_idle(idle: Collection[str], before: Mapping[str, Collection[str]]) -> list[str]:
    """Those with nothing new that are not fed by a connector that is about to run: what it writes is new for them.

    :param before: by connector, those that end before it starts.
    """
    found: list[str] = []
    for name in TopologicalSorter(before).static_order():
        if name in idle and all(other in found for other in before[name]):
            found.append(name)
    return found


def weights(spec: GroupSpec) -> dict[str, int]:
    """The weights of the connectors' pools, where they are not 1."""
    found = {name_of(run.config): weight_of(priority_of(run.config)) for run in spec.runs}
    return {name: weight for name, weight in found.items() if weight != 1}
