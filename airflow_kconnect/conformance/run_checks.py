"""What sources and sinks have to do from run to run, also when runs are killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.failing import failures
from airflow_kconnect.conformance.findings import Broken, DoesNotApply, Guarantee, Passed
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.trials import LIMIT_S, MAX_RECORDS, RECORDS, drained, succeeded
from airflow_kconnect.runs.events import EXIT_FENCED, EXIT_RETRIABLE

_FIRST = RECORDS // 2
_BOUNDS = (2, 3, 7)
_INTERVAL = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "1"}
_KILLS = 3
_FULL_READ = (
    "Each run reads and writes everything again, since records without offsets do not say where the last one has ended:"
    " at least once, by a full read. To send only what is new, give records offsets; a function has them by a"
    " `cursor` or a `state`"
)
_NO_END = "the records of the source have no offsets, so after a run with a bound the next one begins at the beginning"


def second_run(lab: Lab) -> Passed:
    """A second run moves nothing, or only what is new."""
    with lab.trial(0) as trial:
        grows = trial.grows
        trial.add(_FIRST if grows else RECORDS)
        trial.run()
        again = trial.run().written
        full_read = lab.reads_all_again and lab.claims is not Guarantee.EXACTLY_ONCE
        if again and not full_read:
            text = f"a second run wrote {again} of the records again: a run has to resume from the committed offsets"
            raise Broken(text, doubled=again)
        if grows:
            trial.add(RECORDS - _FIRST)
            trial.run()
        passed = trial.judged("after more records were added" if grows else "after a second run")
    return replace(passed, text=f"{passed.text}. {_FULL_READ}", full_read=True) if full_read else passed


def each_record(lab: Lab) -> Passed:
    """A run resumes after each record: nothing depends on how records are grouped."""
    if lab.reads_all_again:
        raise DoesNotApply(_NO_END)
    with lab.trial() as trial:
        drained(trial, 1)
        return trial.judged("after runs of one record each")


def bounds(lab: Lab) -> Passed:
    """Runs with a bound move no more than it allows, and together all."""
    if lab.reads_all_again:
        raise DoesNotApply(_NO_END)
    for bound in _BOUNDS:
        with lab.trial() as trial:
            drained(trial, bound)
            trial.judged(f"after runs of at most {bound} records")
    return Passed(f"runs of at most {', '.join(map(str, _BOUNDS))} records moved each record once")


def killed_at(point: str, where: str) -> Callable[[Lab], Passed]:
    """A run that is killed at a failpoint, in the middle of its records, loses and doubles nothing."""

    def look(lab: Lab) -> Passed:
        with lab.trial() as trial:
            reached = trial.killed_at(point, {MAX_RECORDS: str(_FIRST)})
            trial.run()
            passed = trial.judged(f"after a kill {where}" if reached else "after two runs", may_double=True)
            if not reached:
                raise DoesNotApply(f"a run of this connector does not reach this point; {passed.text}")
            return passed

    return look


def killed_at_random(lab: Lab) -> Passed:
    """Kills at random moments."""
    dice = lab.dice("killed:random")
    keys = {} if lab.is_sink else _INTERVAL
    with lab.trial() as trial:
        moments = [dice.uniform(0.1, lab.usual_s) for _ in range(_KILLS)]
        for moment_s in moments:
            with lab.runs.started({**trial.config, **keys}) as job:
                if job.wait(moment_s) is None:
                    job.kill()
        trial.run()
        shown = ", ".join(f"{moment_s:.2f}" for moment_s in moments)
        return trial.judged(f"after kills {shown} s from the start", may_double=True)


def two_runs(point: str) -> Callable[[Lab], Passed]:
    """Of two runs at once the newer one wins, and the older one, which stood at a failpoint, adds nothing."""

    def look(lab: Lab) -> Passed:
        with lab.trial() as trial, lab.runs.started(trial.config, point) as older:
            reached = older.wait_for_failpoint(LIMIT_S)
            succeeded(trial.attempt())
            if reached:
                older.reached.unlink()
            code = trial.end_of(older).exit_code
            passed = trial.judged("after two runs at once" if reached else "after two runs", may_double=True)
            if not reached:
                raise DoesNotApply(
                    f"a run of this connector does not reach the point where another one could begin; {passed.text}"
                )
            fenced = lab.is_sink or lab.claims is Guarantee.EXACTLY_ONCE
            if fenced and code not in (EXIT_FENCED, EXIT_RETRIABLE):
                raise Broken(f"the older of two runs ended with exit code {code}, although a newer one had taken over")
            return passed

    return look


def interrupted(points: Mapping[str, str], overtaken_at: str) -> tuple[Check, ...]:
    """The checks of runs that are killed, overtaken, or fail.

    :param points: where runs are killed, and in what words. :param overtaken_at: where the older of two runs stands.
    """
    return (
        *(Check(f"killed:{point}", f"killed {where}", killed_at(point, where)) for point, where in points.items()),
        Check("killed:random", "killed at random moments", killed_at_random),
        Check("two-runs", "two runs at once", two_runs(overtaken_at)),
        Check("errors", "errors have the exit codes that say what to do", failures),
    )
