"""Events on the output of a job: from them its phases, its progress, its report and its error are known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.runs.report import RunReport

EVENT_PREFIX = "KCONNECT "
EXIT_OK, EXIT_CONFIG_OR_DATA, EXIT_USAGE, EXIT_RETRIABLE, EXIT_FENCED, EXIT_INTERNAL = range(6)


def event_line(event: str, *, token: str | None = None, **facts: Any) -> str:
    """A line that the job prints for the process that started it.

    :param token: that of the run spec. A line without one is meant for people: readers do not treat it as an event.

    Events: ``phase`` (name, text for display, step, steps), ``spark_ui`` (url), ``progress`` (records, rate,
    tasks_done, tasks, elapsed_s, expected or null), ``report`` (report: `RunReport.as_dict`), ``preview`` (answer: see
    `runtime.source.previewing`), ``error`` (error: class name, message, exit_code, errors: key -> messages for
    configuration errors). Events of a group's runs have ``connector``.
    """
    text = json.dumps({"event": event, **facts}, separators=(",", ":"))
    return f"{EVENT_PREFIX}{token} {text}" if token else EVENT_PREFIX + text


def parse_event(line: str, token: str | None) -> dict[str, Any] | None:
    """The event in a line of a job's output, or None if the line is something else, or an event with missing members.

    :param token: that of the run spec; without it there are no events.
    """
    prefix = f"{EVENT_PREFIX}{token} "
    if not token or not line.startswith(prefix):
        return None
    try:
        event = json.loads(line[len(prefix) :])
        if not isinstance(event, dict) or not _is_whole(event):
            return None
        describe_event(event)  # an event that cannot be described does not count
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    return event


def _is_whole(event: Mapping[str, Any]) -> bool:
    """Whether an event has the members that its readers use; unknown events of a later version pass."""
    members = _MEMBERS.get(event["event"], {})
    if not all(isinstance(event[name], kind) for name, kind in members.items()):
        return False
    return event["event"] != "spark_ui" or _WEB_ADDRESS.match(event["url"]) is not None


def describe_event(event: Mapping[str, Any]) -> str:
    """An event as a line for a log."""
    match event.get("event"):
        case "phase":
            return _describe_phase(event)
        case "spark_ui":
            return f"Spark UI: {event['url']}"
        case "progress":
            return _describe_progress(event)
        case "report":
            return RunReport.of(event["report"]).summary()
        case "preview":
            return f"{len(event['answer']['records'])} records"
        case "error":
            return f"{event['error']}: {event['message']}"
        case other:
            return f"{other}: {json.dumps({k: v for k, v in event.items() if k != 'event'})}"


def _describe_phase(event: Mapping[str, Any]) -> str:
    text = str(event.get("text", event["name"]))
    return f"[{event['step']}/{event['steps']}] {text}" if "step" in event else text


_MEMBERS: Mapping[str, Mapping[str, Any]] = {
    "phase": {"name": str},
    "spark_ui": {"url": str},
    "progress": {"records": int, "tasks_done": int, "tasks": int},
    "report": {"report": dict},
    "preview": {"answer": dict},
    "error": {"error": str, "message": str, "exit_code": int},
}
_WEB_ADDRESS = re.compile(r"https?://\S+\Z")


def _describe_progress(event: Mapping[str, Any]) -> str:
    expected = event.get("expected")
    of = f" of {expected:,}" if expected else ""
    return (
        f"{event['records']:,}{of} records, {event['rate']:,.0f}/s, "
        f"{event['tasks_done']}/{event['tasks']} splits done, {event['elapsed_s']:.0f} s"
    )
