"""What a source has to do from run to run."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.findings import Broken, Difference, DoesNotApply, Passed
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.run_checks import bounds, each_record, interrupted, second_run
from airflow_kconnect.conformance.trials import RECORDS

_NO_ADD = "the source gets no new data: give the harness the method `add`"

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
        arrived = _texts(record.plain() for record in reference.records)
        Difference.of(_texts(reference.expected), arrived).judged("after a run", may_double=False)
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


def empty(lab: Lab) -> Passed:
    """A run of a source without records succeeds, and a source that fills up later is read."""
    with lab.trial(0) as trial:
        if not trial.grows:
            raise DoesNotApply(_NO_ADD)
        if written := trial.run().written:
            raise Broken(f"a run of an empty source wrote {written} records: those must come from `add`")
        trial.add(RECORDS)
        trial.run()
        return trial.judged("after an empty source was filled")


def bounded_time(lab: Lab) -> Passed:
    """A run that has no time left still ends, and loses nothing."""
    with lab.trial() as trial:
        begun_s = time.monotonic()
        trial.run({"kconnect.max.duration.ms": "1"})
        took_s = time.monotonic() - begun_s
        trial.run()
        trial.judged("after a run that had no time")
    return Passed(f"a run without time ended after {took_s:.1f} s, and the next one moved the rest")


def _texts(values: Iterable[Any]) -> Counter[str]:
    return Counter(json.dumps(value, sort_keys=True) for value in values)


SOURCE_CHECKS = (
    Check("runs", "a run moves what there is", runs),
    Check("repeats", "the same data give the same records", repeats),
    Check("second-run", "a second run moves nothing but what is new", second_run),
    Check("empty", "an empty source, which fills up", empty),
    Check("each-record", "runs of one record each", each_record),
    Check("bounds", "runs bounded at several sizes", bounds),
    Check("bounded-time", "a run without time", bounded_time),
    *interrupted(POINTS, "mid-produce"),
)
