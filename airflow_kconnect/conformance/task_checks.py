"""What tasks of a Python source have to do, looked at in this process: no run is needed for it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.findings import Broken, DoesNotApply, Guarantee, Passed
from airflow_kconnect.conformance.harness import Arrived, Harness, SourceHarness, has, has_schemas
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.trials import Trial
from airflow_kconnect.connect.connector.source import PollSourceConnector
from airflow_kconnect.connect.connector.task import NewShapes, SourceTask, SourceTaskContext
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import ConnectError, in_one_line, named
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.java_text.json import partition_identity

MOST = 1000
_STARTS = 20  # each reads all that follow
_SHAPES = 20
_POLLS_S = 20.0
_LONGEST_POLL_S = 5.0
_SCALARS = (str, int, float, bool, type(None))
Offsets = dict[str, dict[str, Any]]
Identity = Callable[[SourceRecord], Any]


@dataclass
class Polled:
    """What a task has delivered. :param ended: whether it has caught up. :param longest_s: its longest `poll`."""

    records: list[SourceRecord]
    ended: bool
    longest_s: float


@contextmanager
def _connector(lab: Lab) -> Iterator[tuple[Trial, PollSourceConnector]]:
    if not issubclass(lab.subject.connector, PollSourceConnector):
        raise DoesNotApply("the connector has no tasks in Python")
    with lab.trial() as trial:
        connector = lab.subject.connector(trial.props)
        if lab.subject.connector.learn is not PollSourceConnector.learn:
            _learn(connector)
        yield trial, connector


def _learn(connector: PollSourceConnector) -> None:
    """Let the connector know all shapes of its records, as runs do."""
    known: list[dict[str, Any]] = []
    for _ in range(_SHAPES):
        try:
            for props in _tasks(connector):
                _polled(connector, props, {})
        except NewShapes as found:
            known = [connector.learn([*known, found.facts])]
        else:
            return
    raise Broken(f"its tasks have raised NewShapes {_SHAPES} times: `shapes` must have what `learn` was given")


def _tasks(connector: PollSourceConnector) -> Sequence[Mapping[str, str]]:
    return connector.task_configs(int(connector.props.get("tasks.max", 1)))


def _polled(connector: PollSourceConnector, props: Mapping[str, str], offsets: Offsets) -> Polled:
    """The records of a new task that starts after these offsets, up to `MOST`."""
    try:
        return _polled_by(connector.task_class()(), props, offsets)
    except ConnectError as error:  # of the connector, and so no reason to end all checks
        raise Broken(f"a task raised {named(error)}") from error


def _polled_by(task: SourceTask, props: Mapping[str, str], offsets: Offsets) -> Polled:
    longest_s = 0.0
    records: list[SourceRecord] = []
    task.initialize(SourceTaskContext(props, offsets))
    end_s = time.monotonic() + _POLLS_S
    try:
        task.start(props)
        while len(records) < MOST and time.monotonic() < end_s:
            begun_s = time.monotonic()
            polled = task.poll()
            longest_s = max(longest_s, time.monotonic() - begun_s)
            if polled is None:
                return Polled(records, ended=True, longest_s=longest_s)
            records += polled
        return Polled(records[:MOST], ended=False, longest_s=longest_s)
    finally:
        task.stop()


def offsets(lab: Lab) -> Passed:
    """Offsets are flat maps of plain JSON, and in exactly-once sources each says which record it follows."""
    with _connector(lab) as (_, connector):
        together = connector.commits_at_offsets()
        polled = (_polled(connector, props, {}).records for props in _tasks(connector))
        checked = [_check_offsets(records, lab.claims, together) for records in polled]
    count, without = (sum(counts) for counts in zip(*checked, strict=True)) if checked else (0, 0)
    if without:
        text = f"{count} offsets are plain JSON; {without} records have none of their own, as at-least-once allows"
        return Passed(text, doubled=without)
    return Passed(f"{count} offsets are plain JSON, and no two are the same")


def _check_offsets(records: Sequence[SourceRecord], claims: Guarantee, together: bool) -> tuple[int, int]:
    """How many offsets there are, and how many records have none of their own.

    :param together: whether records without an offset belong to those that follow.
    """
    seen: set[tuple[str, str]] = set()
    without = 0
    for record in records:
        if record.source_partition is None or record.source_offset is None:
            belongs = together and record.source_partition is not None
            if claims is Guarantee.EXACTLY_ONCE and not belongs:
                raise Broken("a record has no offset: a source that is exactly once gives each one", doubled=1)
            without += not belongs
            continue
        for what, value in (("partition", record.source_partition), ("offset", record.source_offset)):
            _check_plain(what, value)
        found = (partition_identity(record.source_partition), json.dumps(record.source_offset, sort_keys=True))
        if found in seen and claims is Guarantee.EXACTLY_ONCE:
            text = f"two records of a source partition have the same offset {found[1]}: a run that ends between them"
            raise Broken(f"{text} doubles or loses one. Give each record an offset of its own", doubled=1)
        without += found in seen
        seen.add(found)
    return len(seen), without


def _check_plain(what: str, value: Mapping[str, Any]) -> None:
    """:raises Broken: it is not what Kafka gives back."""
    for key, item in value.items():
        if not isinstance(key, str):
            raise Broken(f"a source {what} has a key that is not a text: {key!r}. JSON has no other keys")
        if not isinstance(item, _SCALARS) or (isinstance(item, float) and not math.isfinite(item)):
            text = f"a source {what} has {item!r} as `{key}`: only texts, numbers, booleans and null come back"
            raise Broken(f"{text} as they were. Turn it into one of them")


def same_again(lab: Lab) -> Passed:
    """A new task that starts after a record delivers the records after it, in the same order."""
    with _connector(lab) as (trial, connector):
        tried, identity = 0, _identity_of(trial.harness)
        for props in _tasks(connector):
            first = _polled(connector, props, {})
            _same(_polled(connector, props, {}), first, 0, "without offsets", identity)
            reached: Offsets = {}
            for number, record in enumerate(first.records[:_STARTS], start=1):
                if record.source_partition is None or record.source_offset is None:
                    if connector.commits_at_offsets():
                        continue
                    raise DoesNotApply("its records have no offsets")
                reached[partition_identity(record.source_partition)] = dict(record.source_offset)
                offset = json.dumps(record.source_offset)
                again = _polled(connector, props, json.loads(json.dumps(reached)))
                _same(again, first, number, f"after {offset}", identity)
                tried += 1
    if not tried:
        raise DoesNotApply("its records have no offsets")
    return Passed(f"tasks that start after each of {tried} offsets deliver the next record")


def _identity_of(harness: Harness) -> Identity:
    """What tells a record from others, as the author says: a value may have a part that differs each time."""
    if not (isinstance(harness, SourceHarness) and has(harness, "identity")):
        return lambda record: (record.topic, record.key, record.value)
    enveloped = has_schemas(harness.configured)

    def identity(record: SourceRecord) -> str:
        key, value = (_json(part, enveloped=enveloped) for part in (record.key, record.value))
        try:
            return harness.identity(Arrived(record.topic, key, value))
        except Exception as error:  # it may read what another converter writes
            text = "the harness' `identity` cannot read records in JSON"
            raise DoesNotApply(f"{text}: {in_one_line(error)}") from error

    return identity


def _json(value: Any, *, enveloped: bool) -> bytes | None:
    """As the converter for JSON writes it, but for the schema."""
    if value is None:
        return None
    return json.dumps({"schema": None, "payload": value} if enveloped else value, default=str).encode()


def _same(again: Polled, first: Polled, after: int, where: str, identity: Identity) -> None:
    expected = first.records[after:]
    both = min(len(expected), len(again.records))
    for wanted, found in zip(expected, again.records, strict=False):
        if identity(wanted) != identity(found):
            _refuse(f"delivers {_short(found.value)} and not {_short(wanted.value)}", where)
    if both < len(expected) and again.ended:
        _refuse(f"delivers nothing and not {_short(expected[both].value)}", where, missing=len(expected) - both)
    if first.ended and len(again.records) > both:
        _refuse(f"delivers {_short(again.records[both].value)}, which was there before", where)


def _refuse(what: str, where: str, missing: int = 0) -> None:
    text = f"a new task that starts {where} {what}: where it begins must depend on `context.offset(...)` alone, and the"
    raise Broken(f"{text} offset of a record must say that this record is done", missing=missing, doubled=1)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def schemas(lab: Lab) -> Passed:
    """Each schema of a record is one that the connector declares; values without one are JSON."""
    with _connector(lab) as (_, connector):
        shapes, count = connector.shapes(), 0
        for props in _tasks(connector):
            for record in _polled(connector, props, {}).records:
                _check_schema("key", record.key_schema, record.key, shapes.keys)
                _check_schema("value", record.value_schema, record.value, shapes.values)
                count += 1
    return Passed(f"the schemas of {count} records are declared")


def _check_schema(part: str, schema: ConnectSchema | None, value: Any, declared: Sequence[Shape]) -> None:
    if schema is not None and all(shape.schema != schema for shape in declared):
        raise Broken(f"a {part} has a schema that `shapes` does not declare: {schema}. Declare it, or give none")
    if schema is None:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise Broken(f"a {part} without a schema is not JSON: {error}. Give it a schema") from error


def slow(lab: Lab) -> Passed:
    """`poll` returns soon, and returns None once all is read."""
    with _connector(lab) as (_, connector):
        polled = [_polled(connector, props, {}) for props in _tasks(connector)]
    longest_s = max((each.longest_s for each in polled), default=0.0)
    if longest_s > _LONGEST_POLL_S:
        text = f"`poll` took {longest_s:.0f} s: the records before it wait for that, and so do bounds. Return what"
        raise Broken(f"{text} there is, an empty list if that is nothing yet")
    if not all(each.ended or len(each.records) == MOST for each in polled):
        raise Broken(f"`poll` has not returned None within {_POLLS_S:.0f} s: return None once all is read")
    return Passed(f"`poll` took at most {longest_s:.2f} s")


TASK_CHECKS = (
    Check("offsets", "offsets are plain JSON and identify records", offsets),
    Check("same-again", "tasks that start after a record deliver the next", same_again),
    Check("schemas", "schemas of records are declared", schemas),
    Check("poll", "`poll` returns soon", slow),
)
