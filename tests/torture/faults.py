"""What can happen to the runs of a connector, and random schedules of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WHOM = ("all", "jvm", "driver", "worker")


@dataclass(frozen=True)
class When:
    """When a fault strikes: at a failpoint, or so many seconds after the job was started."""

    failpoint: str | None = None
    after_s: float = 0.0

    def __str__(self) -> str:
        return f"at {self.failpoint}" if self.failpoint else f"after {self.after_s:.1f} s"


@dataclass(frozen=True)
class Kill:
    """SIGKILL to the whole job, or to a part of it."""

    when: When
    whom: str

    def __str__(self) -> str:
        return f"kill {self.whom} {self.when}"


@dataclass(frozen=True)
class Zombie:
    """A run is stopped with SIGSTOP, another one runs to its end, and then the first one continues."""

    when: When

    def __str__(self) -> str:
        return f"stop {self.when}, run another, continue"


@dataclass(frozen=True)
class Race:
    """Several runs at once, each started a moment after the one before; perhaps one of them is killed."""

    delays_s: tuple[float, ...]

    def __str__(self) -> str:
        pauses = ", ".join(f"{delay:.1f}" for delay in self.delays_s)
        return f"{len(self.delays_s) + 1} runs at once, {pauses} s between their starts"


@dataclass(frozen=True)
class BrokerFault:
    """A broker is killed, stopped or frozen during a run, and comes back so many seconds later.

    :param node: which broker of the cluster.
    """

    how: str
    node: int
    when: When
    back_after_s: float

    def __str__(self) -> str:
        return f"{self.how} broker {self.node} {self.when}, back after {self.back_after_s:.1f} s"


@dataclass(frozen=True)
class OffsetsExpire:
    """The group's offsets are deleted, as their retention does; then a run. Only for sinks."""

    def __str__(self) -> str:
        return "the group's offsets expire, run"


@dataclass(frozen=True)
class TopicRecreated:
    """The topic is deleted and created again with new input; then a run. Only for sinks."""

    def __str__(self) -> str:
        return "the topic is created again, run"


@dataclass(frozen=True)
class TargetRestored:
    """The target is copied, a run follows, the copy takes the target's place, as after a failover or a restore; a run.

    Only for sinks whose target holds its own offsets.
    """

    def __str__(self) -> str:
        return "copy the target, run, restore the copy, run"


@dataclass(frozen=True)
class RecordsDeleted:
    """Retention deletes records; then a run. Only for sinks.

    :param unread: also records that no run has read: such a run must refuse.
    """

    unread: bool

    def __str__(self) -> str:
        return f"retention deletes {'unread records' if self.unread else 'what was read'}, run"


@dataclass(frozen=True)
class TargetSetBack:
    """An older copy takes the place of the target: a run must refuse. Only for sinks whose offsets are in Kafka."""

    def __str__(self) -> str:
        return "an older copy takes the target's place, run"


@dataclass(frozen=True)
class Others:
    """Other programs work on the target while a run has stopped there, and some more while it continues.

    :param first: what they do while it has stopped. :param later: while it continues.
    """

    when: When
    first: str
    later: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.first} {self.when}" + "".join(f", then {each}" for each in self.later)


Fault = (
    Kill
    | Zombie
    | Race
    | BrokerFault
    | OffsetsExpire
    | TopicRecreated
    | TargetRestored
    | RecordsDeleted
    | TargetSetBack
    | Others
)


@dataclass(frozen=True)
class Step:
    """New input, perhaps a changed configuration, and then a run or several with a fault.

    :param records: new input.
    """

    records: int
    reconfigured: bool
    fault: Fault

    def __str__(self) -> str:
        changed = "other settings, " if self.reconfigured else ""
        return f"{self.records} records, {changed}{self.fault}"


def schedule(
    seed: str,
    failpoints: Sequence[str],
    *,
    sink: bool,
    nodes: int,
    extra: Sequence[Callable[[], Fault]] = (),
    others: Sequence[str] = (),
    set_back: bool = False,
) -> list[Step]:
    """Three to five steps, for a sink perhaps one more.

    :param seed: of all choices.
    :param failpoints: those that runs of the connector reach.
    :param nodes: brokers of the cluster; with more than one of them, every second fault is a broker's.
    :param extra: faults that only some connectors or seeds know; the last step may be unread records that are deleted
        if there are any.
    :param others: what other programs do to the target. :param set_back: the last step may be an older target.
    """
    dice = _Dice(random.Random(f"schedule {seed}"), failpoints, nodes, others)
    rng = dice.rng
    kinds: list[Callable[[], Fault]] = [dice.kill, dice.zombie, dice.race, dice.broker, *[OffsetsExpire] * 2 * sink]
    kinds += [*extra] * 2
    if others:
        more: list[Callable[[], Fault]] = [dice.kill, dice.zombie, dice.race, dice.others_at_work]
        kinds += [*more, *more, dice.broker, dice.others_at_work]
    steps = [
        Step(
            records=rng.choice((1, 50, 500, 3000)),
            reconfigured=bool(k) and rng.random() < 0.5,
            fault=dice.broker() if nodes > 1 and rng.random() < 0.5 else rng.choice(kinds)(),
        )
        for k in range(rng.randint(3, 5))
    ]
    if sink and rng.random() < 0.75:
        last = _last(rng, unread=bool(extra), set_back=set_back)
        steps.append(Step(rng.choice((1, 50, 500)), False, last))
    return steps


def _last(rng: random.Random, *, unread: bool, set_back: bool) -> Fault:
    if set_back and rng.random() < 0.4:
        return TargetSetBack()
    return RecordsDeleted(unread=True) if unread and rng.random() < 0.5 else TopicRecreated()


@dataclass(frozen=True)
class _Dice:
    """Faults by chance."""

    rng: random.Random
    failpoints: Sequence[str]
    nodes: int
    others: Sequence[str] = ()

    def when(self) -> When:
        if self.rng.random() < 0.7:
            return When(self.rng.choice(self.failpoints))
        return When(after_s=round(self.rng.uniform(2, 9), 1))

    def kill(self) -> Kill:
        return Kill(self.when(), self.rng.choice(("all", "all", *WHOM)))

    def zombie(self) -> Zombie:
        return Zombie(self.when())

    def others_at_work(self) -> Others:
        later = tuple(self.rng.choice(self.others) for _ in range(self.rng.choice((0, 0, 1, 3))))
        return Others(self.when(), self.rng.choice(self.others), later)

    def race(self) -> Race:
        return Race(tuple(round(self.rng.uniform(0, 3), 1) for _ in range(self.rng.choice((1, 1, 2)))))

    def broker(self) -> BrokerFault:
        how, node = self.rng.choice(("kill", "stop", "freeze")), self.rng.randrange(self.nodes)
        return BrokerFault(how, node, self.when(), round(self.rng.uniform(1, 12 if self.nodes == 1 else 20), 1))
