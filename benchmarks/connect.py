"""Kafka Connect's side: a worker that stays warm, and the clock from a connector's first record to its last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import CpuMeter, Pass, Say
from benchmarks.settings import HEAP_MB, SCRIPT_JVM, SCRIPT_WORKER, TUNED_JVM, TUNED_WORKER
from tests.support.connect.worker import ConnectWorker as ConnectWorker

PASS_S = 15
"""A pass of Connect ends after so many seconds of moving records: what counts is the rate."""
_QUIET_S = 3
_START_S = 60


@dataclass(frozen=True)
class Moved:
    """How far a connector has come.

    :param units: looked at often: records, or what grows with them.
    :param enough: units at which all have moved; None if that is not known before.
    :param records_per_unit: asked once, after the connector was stopped.
    """

    units: Callable[[], int]
    enough: int | None = None
    records_per_unit: Callable[[], float] = lambda: 1.0


def worker(
    folder: Path,
    bootstrap: str,
    *,
    tuned: bool,
    plugins: Sequence[str] = (),
    group: str = "",
    settings: Mapping[str, str] | None = None,
    say: Say | None = None,
) -> ConnectWorker:
    """A distributed worker, exactly-once on; as Kafka's scripts start it, or tuned.

    :param group: its worker group, with topics of its own; by default one for each of the two.
    :param settings: additional worker properties.
    """
    group = group or ("tuned" if tuned else "as-it-comes")
    return ConnectWorker(
        folder / f"connect-{group}",
        bootstrap=bootstrap,
        group_id=f"connect-{group}",
        offset_topic=f"connect-{group}-offsets",
        config_topic=f"connect-{group}-configs",
        status_topic=f"connect-{group}-status",
        exactly_once=True,
        heap_mb=HEAP_MB,
        java_options=TUNED_JVM if tuned else SCRIPT_JVM,
        settings={**(TUNED_WORKER if tuned else SCRIPT_WORKER), **(settings or {})},
        plugins=plugins,
        progress=say,
    )


def measure(
    connect: ConnectWorker,
    configs: Mapping[str, Mapping[str, str]],
    moved: Moved,
    meter: CpuMeter,
    *,
    put_input: Callable[[], None] | None = None,
    before_stop: Callable[[], None] | None = None,
) -> Pass:
    """Records and seconds from the first record that is seen to the last one; neither start-up nor stop counts.

    :param configs: connectors by name.
    :param put_input: makes the input of several connectors, so that all of them start at that moment; they are paused
        meanwhile.
    :param before_stop: called when the clock has stopped, while the connectors still run.
    :raises ConnectError: a connector or a task has failed.
    :raises RuntimeError: no records were seen to move.
    """
    for name, config in configs.items():
        connect.create(name, config)
    if put_input:
        for name in configs:
            connect.wait_running(name)
            connect.pause(name)
        put_input()
        with ThreadPoolExecutor(len(configs)) as pool:
            list(pool.map(connect.resume, configs))
    _wait_for_first(connect, configs, moved)
    before = meter.look([connect.pid])
    first, began = moved.units(), time.monotonic()
    last, ended = _last(connect, configs, moved, first, began)
    after = meter.look([connect.pid])
    if before_stop:
        before_stop()
    for name in configs:
        connect.stop_connector(name)
        connect.delete(name)
    if last == first:
        raise RuntimeError(f"All {last} came at once: it takes more records to measure a rate")
    records = round((last - first) * moved.records_per_unit())
    return Pass(records, ended - began, *meter.between(before, after))


def _wait_for_first(connect: ConnectWorker, names: Mapping[str, object], moved: Moved) -> None:
    deadline = time.monotonic() + _START_S
    while moved.units() == 0:
        if time.monotonic() > deadline:
            _check(connect, names)
            raise RuntimeError(f"No record within {_START_S} s: {', '.join(names)}")
        time.sleep(0.01)


def _last(
    connect: ConnectWorker, names: Mapping[str, object], moved: Moved, first: int, began: float
) -> tuple[int, float]:
    """The last change that is seen, and when."""
    units, changed = first, began
    while changed - began < PASS_S:
        found, now = moved.units(), time.monotonic()
        if found != units:
            units, changed = found, now
        if moved.enough is not None and units >= moved.enough:
            break
        if now - changed > _QUIET_S:
            _check(connect, names)
            if moved.enough is None:
                break
        if now - changed > _START_S:
            raise RuntimeError(f"Stands still at {units} of {moved.enough}: {', '.join(names)}")
        time.sleep(0.02)
    return units, changed


def _check(connect: ConnectWorker, names: Mapping[str, object]) -> None:
    """:raises ConnectError: a connector or a task has failed."""
    for name in names:
        connect.wait_running(name)
