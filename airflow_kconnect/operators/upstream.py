"""A replay of `source >> sink`: what the sources before a sink have replayed in the same DAG run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.replay import Replay

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator, Context


def with_upstream(replay: Replay, operator: BaseOperator, context: Context) -> Replay:
    """The replay of a sink, with where tasks before it have written what they replayed of the same interval."""
    dag = operator.get_dag()
    before = [] if dag is None else sorted(task.task_id for task in operator.get_flat_relatives(upstream=True))
    if not before:
        return replay
    written = [
        entry
        for report in _reports(context["ti"].xcom_pull(task_ids=before))
        if report.get("replay") == str(replay)
        for entry in report.get("ranges", ())
    ]
    if written:
        operator.log.info("Taking what was replayed before: %s", written)
    return replace(replay, written=written)


def _reports(returned: Any) -> Iterator[Mapping[str, Any]]:
    """Reports of sources among what tasks have returned; a mapped task and a group have returned several."""
    if isinstance(returned, Mapping):
        if returned.get("kind") == "source":
            yield returned
        elif "kind" not in returned:
            yield from _reports(returned.values())
    elif isinstance(returned, Iterable) and not isinstance(returned, str | bytes):
        for each in returned:
            yield from _reports(each)
