"""What a source has to do from run to run."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.failing import failures
from airflow_kconnect.conformance.findings import Broken, Difference, Guarantee, Passed, Skipped
from airflow_kconnect.conformance.harness import Arrived, has
from airflow_kconnect.conformance.lab import LIMIT_S, MAX_RECORDS, RECORDS, Lab, drained, succeeded
from airflow_kconnect.connect.run import EXIT_FENCED, EXIT_RETRIABLE

_FIRST = RECORDS // 2
_BOUNDS = (2, 3, 7)
_NO_ADD = "needs new data: give the harness the method `add`"
_INTERVAL = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "1"}

POINTS = {
    "after-reading-offsets": "before anything is read",
    "mid-produce": "while records are written",
    "during-commit": "before a transaction is committed",
    "before-final-commit": "after records were committed",
    "after-final-commit": "after all was committed",
}
"""Where a run of a source is killed."""


def runs(lab: Lab) -> Passed:
    """A run moves what the source has."""
    reference = lab.reference
    if not reference.records:
        raise Broken("a run moved nothing, so there is nothing to compare: give the source some records")
    if reference.expected is not None:
        wanted = Counter(json.dumps(value, sort_keys=True) for value in reference.expected)
        Difference.of(wanted, Counter(map(_plain, reference.records))).judged("after a run", may_double=False)
    return Passed(f"{len(reference.records)} records in {reference.duration_s:.1f} s")


def repeats(lab: Lab) -> Passed:
    """The same data under another name are the same records: all other checks compare with that."""
    with lab.trial() as trial:
        trial.run()
        difference = trial.difference()
    if difference.missing or difference.foreign or difference.doubled:
        raise Broken(
            "two undisturbed runs of the same data delivered different records: if a value has something that differs"
            " in each run, such as a time, leave it out in the harness' `identity(record)`"
        )
    return Passed("another connector delivers the same records from the same data")


def second_run(lab: Lab) -> Passed:
    """A second run moves nothing, or only what is new."""
    with lab.trial(0) as trial:
        grows = has(trial.harness, "add")
        trial.add(_FIRST if grows else RECORDS)
        trial.run()
        again = trial.run().written
        if again:
            text = f"a second run wrote {again} records that were there: resume from `context.offset(source_partition)`"
            raise Broken(text, doubled=again)
        if grows:
            trial.add(RECORDS - _FIRST)
            trial.run()
        return trial.judged("after more records were added" if grows else "after a second run")


def empty(lab: Lab) -> Passed:
    """A run of a source without records succeeds, and a source that fills up later is read."""
    with lab.trial(0) as trial:
        if not has(trial.harness, "add"):
            raise Skipped(_NO_ADD)
        if written := trial.run().written:
            raise Broken(f"a run of an empty source wrote {written} records: those must come from `add`")
        trial.add(RECORDS)
        trial.run()
        return trial.judged("after an empty source was filled")


def each_record(lab: Lab) -> Passed:
    """A run resumes after each record: nothing depends on how records are grouped."""
    with lab.trial() as trial:
        drained(trial, 1)
        return trial.judged("after runs of one record each")


def bounds(lab: Lab) -> Passed:
    """Runs with a bound move no more than it allows, and together all."""
    for bound in _BOUNDS:
        with lab.trial() as trial:
            drained(trial, bound)
            trial.judged(f"after runs of at most {bound} records")
    return Passed(f"runs of at most {', '.join(map(str, _BOUNDS))} records moved each record once")


def bounded_time(lab: Lab) -> Passed:
    """A run that has no time left still gets on, and ends."""
    with lab.trial() as trial:
        begun_s = time.monotonic()
        trial.run({"kconnect.max.duration.ms": "1"})
        took_s = time.monotonic() - begun_s
        trial.run()
        trial.judged("after a run that had no time")
    return Passed(f"a run without time ended after {took_s:.1f} s, and the next one moved the rest")


def killed_at(point: str) -> Callable[[Lab], Passed]:
    """A run that is killed there, in the middle of its records, loses and doubles nothing."""

    def look(lab: Lab) -> Passed:
        with lab.trial() as trial:
            reached = trial.killed_at(point, {MAX_RECORDS: str(_FIRST)})
            trial.run()
            if not reached:
                raise Skipped("a run of this connector does not come there")
            return trial.judged(f"after a kill {POINTS[point]}", may_double=True)

    return look


def killed_at_random(lab: Lab) -> Passed:
    """Kills at random moments."""
    dice = lab.dice("killed:random")
    longest_s = lab.reference.took_s
    with lab.trial() as trial:
        moments = [dice.uniform(0.1, longest_s) for _ in range(3)]
        for moment_s in moments:
            with lab.runs.started({**trial.config, **_INTERVAL}) as job:
                if job.wait(moment_s) is None:
                    job.kill()
        trial.run()
        shown = ", ".join(f"{moment_s:.2f}" for moment_s in moments)
        return trial.judged(f"after kills {shown} s from the start", may_double=True)


def two_runs(lab: Lab) -> Passed:
    """Of two runs at once the newer one wins, and the older one adds nothing."""
    with lab.trial() as trial, lab.runs.started(trial.config, "mid-produce") as older:
        if not older.wait_for_failpoint(LIMIT_S):
            raise Skipped("a run of this connector does not come to where the other could begin")
        succeeded(trial.attempt())
        older.reached.unlink()
        code = trial.end_of(older).exit_code
        passed = trial.judged("after two runs at once", may_double=True)
        if lab.claims is Guarantee.EXACTLY_ONCE and code not in (EXIT_FENCED, EXIT_RETRIABLE):
            raise Broken(f"the older of two runs ended with exit code {code}, although a newer one had taken over")
        return passed


def _plain(record: Arrived) -> str:
    """A value as JSON data, without the envelope that names its schema."""
    try:
        value = None if record.value is None else json.loads(record.value)
    except ValueError:
        value = (record.value or b"").decode("utf-8", "backslashreplace")
    if isinstance(value, dict) and value.keys() == {"schema", "payload"}:
        value = value["payload"]
    return json.dumps(value, sort_keys=True)


SOURCE_CHECKS = (
    Check("runs", "a run moves what there is", runs),
    Check("repeats", "the same data give the same records", repeats),
    Check("second-run", "a second run moves nothing but what is new", second_run),
    Check("empty", "an empty source, which fills up", empty),
    Check("each-record", "runs of one record each", each_record),
    Check("bounds", "runs bounded at several sizes", bounds),
    Check("bounded-time", "a run without time", bounded_time),
    *(Check(f"killed:{point}", f"killed {where}", killed_at(point)) for point, where in POINTS.items()),
    Check("killed:random", "killed at random moments", killed_at_random),
    Check("two-runs", "two runs at once", two_runs),
    Check("errors", "errors have the exit codes that say what to do", failures),
)
