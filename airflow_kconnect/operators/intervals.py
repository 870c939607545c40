"""What a DAG run means for a connector: resume from the live offsets, or move an interval of time again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runs.moments import moment_of

if TYPE_CHECKING:
    from airflow.sdk import Context

AUTO, RESUME, REPLAY, DEAD_LETTERS = "auto", "resume", "replay", "dead_letters"
_MODES = [AUTO, RESUME, REPLAY, DEAD_LETTERS]
MODE, FROM, TO, DRY_RUN, MAX_RECORDS = "mode", "from", "to", "dry_run", "max_records"

_EMPTY = (
    "Leave it empty in a backfill: each of its runs then replays its own interval, and with a value all of them the"
    " same one. Elsewhere empty means that of the run."
)
_CURE = (
    "A plain cron string gives intervals of length zero; schedule the DAG with"
    " CronDataIntervalTimetable('0 * * * *', timezone='UTC'), or give the run `from` and `to`"
)


def run_params() -> dict[str, Param]:
    """Params for a DAG with connectors: the form that Airflow's UI shows when a run or a backfill is started.

    Use them as ``DAG(..., params=run_params())``. Without them, or with their defaults, runs resume and backfills
    replay.
    """
    moment: dict[str, Any] = {"type": ["null", "string"], "format": "date-time"}
    return {
        MODE: Param(
            AUTO,
            type="string",
            enum=_MODES,
            title="Mode",
            # Not code: in Airflow's form its frames overlap the line above.
            description_md="**auto**: backfills replay, all other runs resume. **resume**: continue from the live"
            " offsets. **replay**: move an interval again, alongside them. **dead_letters**: send a sink's dead letters"
            " through it again.",
        ),
        FROM: Param(None, title="Replay from", description_md=f"Begin of the interval to replay. {_EMPTY}", **moment),
        TO: Param(None, title="Replay to", description_md=f"Its end, exclusive. {_EMPTY}", **moment),
        DRY_RUN: Param(False, type="boolean", title="Dry run", description_md="Only say what would be moved."),
        MAX_RECORDS: Param(
            None,
            type=["null", "integer"],
            minimum=1,
            title="Maximum records",
            description_md="Of a run that resumes; the next one continues there. Intervals are always moved whole.",
        ),
    }


@dataclass(frozen=True)
class RunMode:
    """How a task should run its connector.

    :param replay: the interval to move again, or None.
    :param max_records: overrides ``kconnect.max.records``; None leaves it unchanged.
    :param dead_letters: read the dead letters instead of the topics.
    """

    replay: Replay | None = None
    dry_run: bool = False
    max_records: int | None = None
    dead_letters: bool = False


def run_mode(context: Context) -> RunMode:
    """The mode requested by the DAG run and its params.

    Backfills are recognised by the type of the run, never by its id: a backfill over an existing run keeps its id.

    :raises ConfigError: a replay without an interval, or with an empty one; an interval of dead letters.
    """
    params: Mapping[str, Any] = context.get("params") or {}
    run = context["dag_run"]
    mode = params.get(MODE) or AUTO
    if mode not in _MODES:
        raise ConfigError({f"params.{MODE}": [f"is {mode!r}, expected one of {', '.join(f'`{m}`' for m in _MODES)}"]})
    if mode == AUTO:
        mode = REPLAY if _run_type(run) == "backfill" else RESUME
    dry_run = bool(params.get(DRY_RUN))
    given = params.get(MAX_RECORDS)
    max_records = None if given is None else int(given)
    if mode == RESUME:
        return RunMode(None, dry_run, max_records)
    if mode == DEAD_LETTERS:
        if params.get(FROM) or params.get(TO):
            text = f"mode `{DEAD_LETTERS}` has no interval: all dead letters that were not replayed before are sent"
            raise ConfigError({f"params.{FROM}": [text]})
        return RunMode(None, dry_run, max_records, dead_letters=True)
    return RunMode(_replay(context, params), dry_run)


def _run_type(run: Any) -> str:
    return str(getattr(run.run_type, "value", run.run_type))


def _replay(context: Context, params: Mapping[str, Any]) -> Replay:
    run = context["dag_run"]
    start = _moment(FROM, params.get(FROM)) or getattr(run, "data_interval_start", None)
    end = _moment(TO, params.get(TO)) or getattr(run, "data_interval_end", None)
    _refuse_interval_before(run, start, end)
    if start is None or end is None:
        raise ConfigError({"data_interval": [f"the run has no data interval to replay. {_CURE}"]})
    start_ms, end_ms = _ms(start), _ms(end)
    if end_ms <= start_ms:
        what = "is empty" if end_ms == start_ms else "ends before it begins"
        raise ConfigError({"data_interval": [f"the interval {start} to {end} {what}: nothing can be in it. {_CURE}"]})
    return Replay(start_ms, end_ms, _key(context))


def _refuse_interval_before(run: Any, start: Any, end: Any) -> None:
    """A backfill of all runs reuses existing runs. A manually started one keeps its data interval, the last one
    *before* its date; a backfill means the one that begins there.

    :raises ConfigError: the run's own interval would be moved, and is not the requested one.
    """
    own, requested = getattr(run, "data_interval_start", None), getattr(run, "logical_date", None)
    if _run_type(run) != "backfill" or requested is None or own is None or requested == own:
        return
    if start == own or end == run.data_interval_end:
        text = (
            f"the backfill is for the interval that begins at {requested}, but this run was started by hand before and"
            f" keeps its own one, {own} to {run.data_interval_end}. Delete the DAG run and start the backfill again,"
            " or give the backfill `from` and `to`"
        )
        raise ConfigError({"data_interval": [text]})


def _key(context: Context) -> str:
    """The same for all attempts of a task in a run; different once the run was cleared, which requests it again."""
    ti = context["ti"]
    parts = (ti.dag_id, ti.run_id, ti.task_id, getattr(ti, "map_index", -1))
    cleared = getattr(context["dag_run"], "clear_number", 0) or 0
    return hashlib.sha256(repr((*parts, cleared)).encode()).hexdigest()[:16]


def _moment(name: str, text: Any) -> datetime | None:
    if not text:
        return None
    try:
        return moment_of(str(text))
    except ValueError:
        raise ConfigError(
            {f"params.{name}": [f"{text!r} is not a point in time such as 2026-01-31T12:00:00Z"]}
        ) from None


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
