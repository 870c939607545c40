"""What a sink has to do: from run to run, and with records of all kinds."""

from __future__ import annotations

import json

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.findings import Broken, DoesNotApply, Passed
from airflow_kconnect.conformance.harness import has, has_schemas
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.run_checks import bounds, each_record, interrupted, second_run
from airflow_kconnect.conformance.trials import RECORDS, SinkTrial, Trial
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_OK

_LARGE = 10_000_000
_TEXTS: list[str | None] = [
    "",
    "Übergrößenträger",
    "日本語 🚀",
    'a "quote", a \\ and a tab\t',
    "two\nlines",
    "e\u0301 ≠ é",
]

POINTS = {
    "after-reading-offsets": "before anything is read",
    "mid-write": "while records are written",
    "after-last-write": "after records were written",
    "before-visible": "before what was written is made visible",
    "after-visible": "before the offsets are committed",
    "after-final-commit": "after the offsets were committed",
}
"""Where a run of a sink is killed."""


def runs(lab: Lab) -> Passed:
    """A run puts each record of the topic into the target."""
    with lab.trial(counted=False) as trial:
        ended = trial.run()
        if ended.written != RECORDS:
            raise Broken(f"a run wrote {ended.written} of {RECORDS} records, and did not say why")
        if not has(trial.harness, "arrived"):
            return Passed(f"a run wrote {RECORDS} records; whether they have arrived is not known")
        return trial.judged("after a run")


def empty(lab: Lab) -> Passed:
    """A run over an empty topic succeeds, and a topic that fills up later is read."""
    with lab.trial(0) as trial:
        trial.run()
        trial.add(RECORDS)
        trial.run()
        return trial.judged("after an empty topic was filled")


def _sink(trial: Trial) -> SinkTrial:
    assert isinstance(trial, SinkTrial)
    return trial


def _texts(lab: Lab, texts: list[str | None], what: str) -> Passed:
    """Records with these texts arrive as they are."""
    with lab.trial() as trial:
        sink = _sink(trial)
        sink.add_texts(texts)
        trial.run()
        passed = trial.judged(f"with {what}")
        if not sink.knows_texts:
            raise DoesNotApply(
                f"{passed.text}, but texts are not known: let `arrived` give objects with `id` and `text`"
            )
        return passed


def unicode(lab: Lab) -> Passed:
    """Texts of all kinds."""
    return _texts(lab, _TEXTS, "texts in many languages, quotes and lines")


def nulls(lab: Lab) -> Passed:
    """A field that is null."""
    return _texts(lab, [None, "a", None], "fields that are null")


def _taken_or_refused(trial: Trial, what: str) -> Passed:
    """What a target may refuse: then the run says so, as bad data."""
    ended = trial.attempt()
    if ended.exit_code == EXIT_OK:
        return trial.judged(f"with {what}")
    if ended.exit_code != EXIT_CONFIG_OR_DATA or ended.error is None:
        raise Broken(f"with {what} a run failed, and not with a DataError: {ended.text}")
    return Passed(f"{what}: refused, by {ended.text}"[:300])


def tombstones(lab: Lab) -> Passed:
    """A key without a value."""
    with lab.trial() as trial:
        _sink(trial).write([(b"99", None)])
        return _taken_or_refused(trial, "a tombstone")


def large(lab: Lab) -> Passed:
    """A record of 10 MB."""
    with lab.trial() as trial:
        _sink(trial).add_texts(["x" * _LARGE])
        return _taken_or_refused(trial, "a record of 10 MB")


def schema_change(lab: Lab) -> Passed:
    """From some record on the schema has one more field."""
    with lab.trial() as trial:
        sink = _sink(trial)
        if has(sink.sink, "record") or not has_schemas(sink.sink.configured):
            raise DoesNotApply("the values of this configuration have no schema that the kit could change")
        sink.add_texts(["a", "b", "c"], changed=_with_a_field)
        return _taken_or_refused(trial, "an additional field in later records")


def _with_a_field(key: bytes | None, value: bytes | None) -> tuple[bytes | None, bytes | None]:
    envelope = json.loads(value or b"")
    envelope["schema"]["fields"].append({"field": "more", "type": "int32", "optional": True})
    envelope["payload"]["more"] = 1
    return key, json.dumps(envelope).encode()


SINK_CHECKS = (
    Check("runs", "a run writes what the topic has", runs),
    Check("second-run", "a second run writes nothing but what is new", second_run),
    Check("empty", "an empty topic, which fills up", empty),
    Check("each-record", "runs of one record each", each_record),
    Check("bounds", "runs bounded at several sizes", bounds),
    Check("unicode", "texts of all kinds", unicode),
    Check("nulls", "fields that are null", nulls),
    Check("tombstones", "keys without a value", tombstones),
    Check("large", "a record of 10 MB", large),
    Check("schema-change", "a schema that gets a field", schema_change),
    *interrupted(POINTS, "after-last-write"),
)
