"""Plays a schedule: starts real jobs, lets faults happen to them, and at the end counts what has arrived."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil

from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_INTERNAL, EXIT_OK
from tests.support.connect.hosted import hosted_jvms
from tests.support.spark.jobs import Job, command_of, kill_all, start_job
from tests.torture.cluster import Cluster
from tests.torture.connectors import Sink, Tortured
from tests.torture.faults import (
    BrokerFault,
    Fault,
    Kill,
    OffsetsExpire,
    Others,
    Race,
    RecordsDeleted,
    Step,
    TargetRestored,
    TargetSetBack,
    TopicRecreated,
    When,
    Zombie,
    schedule,
)
from tests.torture.kafka_side import KafkaSide

_RUN_S = 900.0
_LAST_RUNS = 4
WITH_ALL_FAULTS = 2000
"""Schedules of seeds from here on also have the faults that the first ones did not know."""
WITH_FAILING_STORES = 4000
"""Those from here on, of connectors in stores, reach them by a server that fails some requests."""


@dataclass
class Outcome:
    """What one schedule has shown.

    :param struck: for each kind of fault how many of them hit a living run; `planned` counts also those that came too
        late.
    :param exit_codes: of all runs, in the order in which they ended; None is a killed one.
    :param problems: empty if everything is as promised.
    """

    kind: str
    seed: int
    nodes: int
    exactly_once: bool
    steps: list[str] = field(default_factory=list)
    planned: int = 0
    struck: dict[str, int] = field(default_factory=dict)
    exit_codes: list[int | None] = field(default_factory=list)
    expected: int = 0
    missing: int = 0
    doubled: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Player:
    """Plays one schedule of one connector.

    :param exactly_once: what the worker is set to, for sources.
    :param say: takes a line of text at each step.
    """

    def __init__(
        self,
        kind: type[Tortured],
        seed: int,
        cluster: Cluster,
        folder: Path,
        *,
        exactly_once: bool,
        say: Callable[[str], None],
    ) -> None:
        rng = random.Random(f"connector {seed}")
        name = f"torture-{seed}-{folder.name}"
        self._connector = kind(name, folder / "data", KafkaSide(cluster.bootstrap), rng)
        self._connector.failing_store = seed >= WITH_FAILING_STORES
        self._cluster, self._folder, self._say = cluster, folder, say
        # Each connector has an offset topic of its own: a schedule must not depend on those before it.
        self._worker = cluster.worker(exactly_once=exactly_once) | {"offset.storage.topic": f"{name}-offsets"}
        self._worker |= self._connector.worker()
        promised = kind.exactly_once if kind.sink else exactly_once
        nodes = len(cluster.brokers)
        extra = _extra_faults(self._connector) if seed >= WITH_ALL_FAULTS else ()
        self._steps = schedule(
            f"{kind.kind}, {seed}",
            kind.failpoints,
            sink=kind.sink,
            nodes=nodes,
            extra=extra,
            others=kind.others,
            set_back=kind.set_back,
        )
        self._outcome = Outcome(kind.kind, seed, nodes, bool(promised), [str(step) for step in self._steps])
        self._jobs: list[Job] = []

    def play(self) -> Outcome:
        """All steps, then undisturbed runs until everything has been moved, then the count."""
        started = time.monotonic()
        try:
            for step in self._steps:
                self._say(str(step))
                self._play(step)
            self._settle()
        except Exception as error:  # the schedule is lost, and says so
            self._outcome.problems.append(f"{type(error).__name__}: {error}")
        finally:
            self._end_all()
        for kind, count in self._connector.struck.items():
            self._outcome.struck[kind] = self._outcome.struck.get(kind, 0) + count
        self._outcome.seconds = round(time.monotonic() - started, 1)
        return self._outcome

    def _play(self, step: Step) -> None:
        if not _is_last(step.fault):
            self._connector.add(step.records)
        if step.reconfigured:
            self._connector.reconfigure()
            self._strike("changed settings")
        self._outcome.planned += 1
        match step.fault:
            case Kill():
                self._kill(step.fault)
            case Zombie():
                self._zombie(step.fault)
            case Race():
                self._race(step.fault)
            case BrokerFault():
                self._broker(step.fault)
            case Others():
                self._others(step.fault)
            case _:
                self._of_sink(step.fault, step.records)

    def _of_sink(
        self, fault: OffsetsExpire | TopicRecreated | TargetRestored | TargetSetBack | RecordsDeleted, records: int
    ) -> None:
        match fault:
            case OffsetsExpire():
                if self._forget_group():
                    self._strike("expired offsets")
                self._wait(self._start())
            case TopicRecreated():
                self._recreate(records)
            case TargetRestored():
                self._restore_target()
            case TargetSetBack():
                self._set_back(records)
            case RecordsDeleted(unread=True):
                self._delete_unread(records)
            case RecordsDeleted():
                self._delete_read()

    def _strike(self, kind: str) -> None:
        self._outcome.struck[kind] = self._outcome.struck.get(kind, 0) + 1

    def _kill(self, fault: Kill) -> None:
        with self._at(fault.when) as job:
            if job is None:
                return
            self._strike("kill")
            if self._connector.hosted and fault.whom in ("jvm", "worker"):  # no Spark: the JVM is a Connect worker's
                kill_all(hosted_jvms(job) or job.tree())
            else:
                kill_all(_victims(job, fault.whom))
            if fault.whom == "worker":  # the run notices, and ends by itself or makes up for it
                job.reached.unlink(missing_ok=True)
                self._wait(job)
                return
            job.kill() if fault.whom == "all" else self._let_end(job)
            self._outcome.exit_codes.append(None)

    def _let_end(self, job: Job) -> None:
        """What is left of a killed job has to end by itself; it may be at a failpoint."""
        job.reached.unlink(missing_ok=True)
        try:
            job.process.wait(60)
        finally:
            job.kill() if job.process.poll() is None else None

    def _zombie(self, fault: Zombie) -> None:
        with self._at(fault.when) as job:
            if job is None:
                return
            self._strike("zombie")
            frozen = job.tree()
            _signal(frozen, signal.SIGSTOP)
            try:
                self._wait(self._start())
            finally:
                job.reached.unlink(missing_ok=True)
                _signal(frozen, signal.SIGCONT)
            self._wait(job)

    def _race(self, fault: Race) -> None:
        jobs = [self._start()]
        for delay in fault.delays_s:
            time.sleep(delay)
            jobs.append(self._start())
        if sum(job.process.poll() is None for job in jobs) > 1:
            self._strike("race")
        for job in jobs:
            self._wait(job)

    def _broker(self, fault: BrokerFault) -> None:
        with self._at(fault.when) as job:
            if job is None:
                return
            self._strike("broker" if len(self._cluster.brokers) == 1 else "broker of three")
            self._cluster.strike(fault.how, fault.node)
            try:
                job.reached.unlink(missing_ok=True)
                time.sleep(fault.back_after_s)
            finally:
                self._cluster.bring_back(fault.how, fault.node)
            self._wait(job)

    def _others(self, fault: Others) -> None:
        with self._at(fault.when) as job:
            if job is None:
                return
            self._disturb(fault.first)
            job.reached.unlink(missing_ok=True)
            for what in fault.later:
                if job.process.poll() is None:
                    self._disturb(what)
            if self._wait(job) == EXIT_CONFIG_OR_DATA:
                self._outcome.problems.append(f"a run next to other programs takes the target for wrong: {job.output}")

    def _disturb(self, what: str) -> None:
        if self._connector.disturb(what):
            self._strike(what)

    def _forget_group(self) -> bool:
        return self._connector.kafka.delete_group(f"connect-{self._connector.name}")

    def _recreate(self, records: int) -> None:
        """A run over a topic that was created again must refuse: its offsets mean other records."""
        assert isinstance(self._connector, Sink)
        self._settle()
        self._connector.recreate_topic()
        self._connector.add(records)
        self._strike("recreated topic")
        if (code := self._wait(self._start())) != EXIT_CONFIG_OR_DATA:
            self._outcome.problems.append(f"a run over a topic that was created again ended with {code}")

    def _restore_target(self) -> None:
        restore = self._connector.backup()
        assert restore is not None
        self._wait(self._start())
        restore()
        self._strike("restored target")
        self._wait(self._start())

    def _set_back(self, records: int) -> None:
        self._settle()
        put_back = self._connector.copy()
        self._connector.add(records)
        self._finish()
        put_back()
        self._connector.add(records)
        self._strike("older target")
        if (code := self._wait(self._start())) != EXIT_CONFIG_OR_DATA:
            self._outcome.problems.append(f"a run over a target that was set back ended with {code}")

    def _delete_read(self) -> None:
        """Once all has arrived, the topic may lose it; the run after it finds what is new."""
        self._finish()
        self._connector.kafka.delete_records(self._connector.name)
        self._strike("retention")
        self._connector.add(10)
        self._wait(self._start())

    def _delete_unread(self, records: int) -> None:
        """A run must say that records are gone which it has not read."""
        self._settle()
        self._connector.kafka.delete_records(self._connector.name)
        self._connector.add(max(records, 50))  # in each partition
        self._connector.kafka.delete_records(self._connector.name, share=0.5)
        self._strike("retention of unread records")
        if (code := self._wait(self._start())) != EXIT_CONFIG_OR_DATA:
            self._outcome.problems.append(f"a run whose records were deleted ended with {code}")

    def _start(self, when: When | None = None) -> Job:
        failpoint = when.failpoint if when else None
        return self._job(self._connector.complete(), failpoint)

    def _job(self, config: dict[str, str], failpoint: str | None = None) -> Job:
        folder, direct = self._folder / "runs", self._connector.hosted
        self._jobs.append(start_job(config, self._worker, folder, failpoint=failpoint, direct=direct))
        return self._jobs[-1]

    @contextmanager
    def _at(self, when: When) -> Iterator[Job | None]:
        """A job at the moment of a fault; None if it ended before."""
        job = self._start(when)
        deadline = time.monotonic() + (when.after_s if when.failpoint is None else _RUN_S)
        while job.process.poll() is None and time.monotonic() < deadline and not job.reached.exists():
            time.sleep(0.005)
        alive = job.process.poll() is None
        if not alive:
            self._wait(job)
        yield job if alive else None

    def _wait(self, job: Job) -> int:
        code = job.wait(_RUN_S)
        self._outcome.exit_codes.append(code)
        if code == EXIT_INTERNAL:
            self._outcome.problems.append(f"a run ended with an internal error: {job.output}")
        return code

    def _settle(self) -> None:
        """Let everything arrive, and count it; once."""
        if not self._outcome.expected:
            self._finish()
            count(self._connector, self._outcome)

    def _finish(self) -> None:
        """Undisturbed runs, as an operator's retries would be, until one has moved all and ends well."""
        self._connector.settle()
        for _ in range(_LAST_RUNS):
            job = self._job(self._connector.without_bounds())
            if self._wait(job) == EXIT_OK and job.report()["complete"]:
                return
        self._outcome.problems.append(f"no run ends well after the faults are over: {job.text()[-600:]}")

    def _end_all(self) -> None:
        with ExitStack() as stack:
            for job in self._jobs:
                stack.callback(job.close)
                if job.process.poll() is None:
                    _signal(job.tree(), signal.SIGCONT)


def _is_last(fault: Fault) -> bool:
    """A fault after which the connector refuses to run: everything is counted before it."""
    return isinstance(fault, TopicRecreated | TargetSetBack) or fault == RecordsDeleted(unread=True)


def _extra_faults(connector: Tortured) -> list[Callable[[], Fault]]:
    if not connector.sink:
        return []
    restored = [TargetRestored] if type(connector).backup is not Tortured.backup else []
    return [partial(RecordsDeleted, unread=False), *restored]


def count(connector: Tortured, outcome: Outcome) -> None:
    """Compare what has arrived with what must have; what is wrong becomes a problem of the outcome."""
    arrived, expected = Counter(connector.arrived()), set(connector.expected())
    missing, strangers = sorted(expected - set(arrived)), sorted(set(arrived) - expected)
    outcome.expected, outcome.missing = len(expected), len(missing)
    outcome.doubled = sum(arrived.values()) - len(arrived)
    if missing:
        outcome.problems.append(f"{len(missing)} records are missing: {missing[:5]} ...")
    if strangers:
        outcome.problems.append(f"{len(strangers)} records were never committed: {strangers[:5]} ...")
    if outcome.doubled and outcome.exactly_once:
        outcome.problems.append(f"{outcome.doubled} records are doubled")
    outcome.problems += connector.other_problems()


def _victims(job: Job, whom: str) -> list[psutil.Process]:
    tree = job.tree()
    if whom == "jvm":
        return job.jvms() or tree  # a run that has nothing to move yet has none
    if whom == "driver":
        return [job.driver()]
    if whom == "worker":
        daemons = [process for process in tree[1:] if "daemon" in command_of(process)]
        return daemons[-1:]
    return tree


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue
