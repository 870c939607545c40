"""Keys with which a connector says how Airflow runs it, for connectors that become DAGs of their own.

Kafka Connect ignores them, so a configuration can go back to a Connect cluster as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Range,
    Type,
    Validator,
    ValidList,
    Width,
    nullable,
)
from airflow_kconnect.runs.group import AFTER, PRIORITY

GROUP = "Airflow"

SCHEDULE = "kconnect.schedule"
RETRIES = "kconnect.retries"
RETRY_DELAY_MS = "kconnect.retry.delay.ms"
POOL = "kconnect.pool"
POOL_SLOTS = "kconnect.pool.slots"
TAGS = "kconnect.tags"
OWNER = "kconnect.owner"
GROUP_NAME = "kconnect.group"

_DOCS = {
    SCHEDULE: "When Airflow runs the connector, if it is registered and became a DAG: cron in UTC, a preset such as "
    "`@hourly`, or an interval such as `30s`, `15m`, `PT15M`. Empty: only when a run is started by hand or by the REST "
    "API. Not set: as the DAG file says.",
    RETRIES: "How often Airflow retries a failed run of a registered connector. Not set: as the DAG file says.",
    RETRY_DELAY_MS: "Time before Airflow retries a failed run of a registered connector, in ms. Not set: as the DAG "
    "file says.",
    POOL: "Airflow pool of a registered connector's runs; it must exist. Not set: as the DAG file says.",
    POOL_SLOTS: "How many slots of the pool a run of a registered connector takes. Not set: as the DAG file says.",
    TAGS: "Further tags of a registered connector's DAG, comma-separated.",
    OWNER: "Owner of a registered connector's DAG. Not set: as the DAG file says.",
    GROUP_NAME: "The group of a registered connector: those with the same group run in one DAG, as one Spark "
    "application. Not set: it has a DAG of its own.",
    PRIORITY: "Within a group: connectors with a higher priority start first, and get a larger share of Spark's "
    "cores. Negative: after the others.",
    AFTER: "Within a group: names of connectors that end before this one starts, comma-separated. Sources start before "
    "the sinks that read their topics, as far as the configurations tell, without it.",
}

PRESETS = ("@once", "@continuous", "@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly")

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SHORT = re.compile(r"(\d{1,9})\s?([smhdw])")
_ISO = re.compile(r"P(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?")
_ISO_UNITS = ("weeks", "days", "hours", "minutes", "seconds")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class _Field(NamedTuple):
    """A field of a cron expression."""

    what: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
)
_LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,9}))?")
_GROUP_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_GROUP_NAME_SHAPE = "up to 100 letters, digits, `_`, `-` and `.`"
_MAX_TAG = 100
_LONGEST_DELAY_MS = 7 * 86_400_000
_EXPECTED = "expected cron (`0 * * * *`), a preset (`@hourly`), or an interval (`15m`, `PT15M`)"


def define_dag_keys(definition: ConfigDef) -> None:
    """Add the keys to those of every connector."""
    number, long = nullable(Range.between(0, 1000)), nullable(Range.between(0, _LONGEST_DELAY_MS))
    slots, not_empty = nullable(Range.between(1, 10_000)), nullable(NonEmptyString())
    schedule, tags = nullable(LambdaValidator(_bad_schedule)), LambdaValidator(_bad_tags)
    keys: tuple[tuple[str, str, Type, Any, Validator], ...] = (
        (SCHEDULE, "Schedule", Type.STRING, None, schedule),
        (RETRIES, "Retries", Type.INT, None, number),
        (RETRY_DELAY_MS, "Delay before a retry", Type.LONG, None, long),
        (POOL, "Pool", Type.STRING, None, not_empty),
        (POOL_SLOTS, "Pool slots", Type.INT, None, slots),
        (TAGS, "Tags", Type.LIST, [], tags),
        (OWNER, "Owner", Type.STRING, None, not_empty),
        (GROUP_NAME, "Group", Type.STRING, None, nullable(LambdaValidator(_bad_group))),
        (PRIORITY, "Priority in the group", Type.INT, 0, Range.between(-1000, 1000)),
        (AFTER, "After", Type.LIST, [], ValidList()),
    )
    for order, (name, title, type_, default, validator) in enumerate(keys, 1):
        definition.define(
            name,
            type_,
            default,
            Importance.LOW,
            _DOCS[name],
            validator=validator,
            group=GROUP,
            order_in_group=order,
            width=Width.MEDIUM,
            display_name=title,
        )


def group_of(config: Mapping[str, Any]) -> str | None:
    """The group in a configuration; None if there is none, or if it is not a valid one."""
    name = str(config.get(GROUP_NAME) or "").strip()
    return name if _GROUP_NAME.fullmatch(name) else None


def interval_of(text: str) -> timedelta | None:
    """The length of an interval such as `30s`, `2h` or `PT15M`; None if the text is none."""
    if short := _SHORT.fullmatch(text):
        return timedelta(**{_UNITS[short[2]]: int(short[1])})
    iso = _ISO.fullmatch(text)
    if iso is None or not any(iso.groups()):
        return None
    return timedelta(**{unit: int(count) for unit, count in zip(_ISO_UNITS, iso.groups(), strict=True) if count})


def schedule_problem(text: str) -> str | None:
    """What is wrong with a schedule that is not empty."""
    if text.startswith("@"):
        return None if text in PRESETS else f"presets are {', '.join(PRESETS)}"
    try:
        interval = interval_of(text)
    except OverflowError:
        return "the interval is too long"
    if interval is not None:
        return None if interval >= timedelta(seconds=1) else "the shortest interval is `1s`"
    return _cron_problem(text.split())


def _cron_problem(fields: list[str]) -> str | None:
    if len(fields) != len(_FIELDS):
        return _EXPECTED
    values = [_field_values(field, known) for field, known in zip(fields, _FIELDS, strict=True)]
    for value, known in zip(values, _FIELDS, strict=True):
        if isinstance(value, str):
            names = f", {known.names[0]}-{known.names[-1]}" if known.names else ""
            allowed = f"{known.least}-{known.most}{names}"
            return f"`{value}` is not a {known.what} of cron ({allowed}, with `*`, `-`, `,` and `/`)"
    # A weekday makes the day of the month one of two conditions, of which either is enough.
    days, months = ({number for number in field if isinstance(number, int)} for field in values[2:4])
    if fields[4] == "*" and min(days) > max(_LONGEST[month] for month in months):
        return "no month has such a day"
    return None


def _field_values(field: str, known: _Field) -> set[int] | str:
    """The values that a field stands for; its first part that is wrong if there is one."""
    values: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        step = int(match[3] or 1) if match else 0
        low = known.least if match is None or match[1] is None else _number(match[1], known)
        high = known.most if match is None or match[1] is None else _number(match[2] or match[1], known)
        if match and match[1] and match[3] and not match[2]:
            high = known.most
        if not step or low is None or high is None or low > high:
            return part
        values.update(range(low, high + 1, step))
    return values


def _number(text: str, known: _Field) -> int | None:
    if text.lower() in known.names:
        return known.names.index(text.lower()) + known.least
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 2 else -1
    return number if known.least <= number <= known.most else None


def _bad_schedule(name: str, text: str) -> str | None:
    return schedule_problem(text) if text else None


def _bad_group(name: str, text: str) -> str | None:
    if not text.strip():
        return "a group has a name"
    return None if _GROUP_NAME.fullmatch(text.strip()) else f"expected {_GROUP_NAME_SHAPE}: it is part of a DAG's id"


def _bad_tags(name: str, tags: list[str]) -> str | None:
    ValidList()(name, tags)
    return f"a tag has at most {_MAX_TAG} characters" if any(len(tag) > _MAX_TAG for tag in tags) else None
