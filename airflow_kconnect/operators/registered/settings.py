"""From a connector's keys to the parameters of its DAG and its task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.validation import dag_keys
from airflow_kconnect.validation.dag_keys import define_dag_keys, interval_of, schedule_problem

try:
    from airflow.sdk import CronDataIntervalTimetable, DeltaDataIntervalTimetable
except ImportError:  # Airflow 3.1
    from airflow.timetables.interval import (  # type: ignore[assignment]
        CronDataIntervalTimetable,
        DeltaDataIntervalTimetable,
    )

# What Airflow schedules by these words has no interval.
_WITHOUT_INTERVAL = ("@once", "@continuous")
_CRON_OF = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
}


@cache
def _keys() -> ConfigDef:
    definition = ConfigDef()
    define_dag_keys(definition)
    return definition


def values_of(config: Mapping[str, str]) -> dict[str, Any]:
    """The typed values of the keys that are set and right; what is wrong is reported by the validation."""
    given = {key: text.strip() for key, text in config.items() if key in _keys().keys}
    return {value.name: value.value for value in _keys().validate(given) if value.name in given and not value.errors}


def task_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the operator."""
    parameters = {
        "retries": values.get(dag_keys.RETRIES),
        "pool": values.get(dag_keys.POOL),
        "pool_slots": values.get(dag_keys.POOL_SLOTS),
        "owner": values.get(dag_keys.OWNER),
        "retry_delay": _milliseconds(values.get(dag_keys.RETRY_DELAY_MS)),
    }
    return {name: value for name, value in parameters.items() if value is not None}


def checked_schedule(text: str | None) -> str | None:
    """The default schedule of a DAG file. :raises ConfigError: it is not a schedule."""
    if text and (problem := schedule_problem(text)):
        raise ConfigError({"schedule": [f"{text!r}: {problem}"]})
    return text


def timetable(text: str | None) -> Any:
    """The `schedule` of a DAG. Data intervals are those between two runs, so backfills can replay them.

    :param text: a valid schedule; None or empty: only manual runs.
    """
    if not text:
        return None
    if text in _WITHOUT_INTERVAL:
        return text
    interval = interval_of(text)
    if interval is not None:
        return DeltaDataIntervalTimetable(interval)
    return CronDataIntervalTimetable(_CRON_OF.get(text, text), timezone="UTC")


def _milliseconds(value: int | None) -> timedelta | None:
    return None if value is None else timedelta(milliseconds=value)
