"""What each transformation of a chain does to some records; needs neither Kafka nor a connector."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.runtime.preview import Plan, Record, checked_records

_TEXT_MAX, _ANSWER_MAX = 65_536, 16_000_000


def preview_steps(
    config: Mapping[str, Any],
    records: Sequence[dict[str, Any]],
    worker: Mapping[str, str] | None = None,
    *,
    is_sink: bool = True,
) -> dict[str, Any]:
    """Have converters read the records, and then each transformation change them.

    :param config: :param records: as for `preview`.
    :param worker: converters of the worker, for parts for which the connector has none.
    :param is_sink: whether the chain is that of a sink.
    :returns: `transformations`: `alias`, `class`, `predicate` and `negate` of each; `records`: for each record what
        the converters made of it, then what each transformation did, as in the answers of `preview`. A record that was
        dropped or has failed is not shown to the transformations after that.
    :raises ConfigError: with all errors of the configuration. :raises DataError: not such a record.
    """
    plan = Plan(config, worker)
    answers: list[list[Record]] = []
    for batch in plan.batches(checked_records(records)):
        answers += steps_of(plan, plan.read(batch), is_sink=is_sink)
    return {"transformations": transformations_of(plan), "records": bounded(answers)}


def steps_of(plan: Plan, frame: RecordFrame, *, is_sink: bool) -> list[list[Record]]:
    """For each record of the frame, which carries their order as `n`, what it is and what each transformation did."""
    steps = [plan.written(frame)]
    for link in plan.chain.links:
        frame = link.apply(frame, plan.scope(is_sink=is_sink))
        steps.append(plan.written(frame))
    return bounded([_until_its_end(each) for each in zip(*steps, strict=True)])


def bounded(answers: list[list[Record]]) -> list[list[Record]]:
    """Answers whose long texts are cut: the process that asked, perhaps a server, has to hold them all.

    :raises DataError: they are too large nevertheless.
    """
    cut: list[list[Record]] = [[_cut(step) for step in steps] for steps in answers]
    size = sum(len(json.dumps(step)) for steps in cut for step in steps)
    if size > _ANSWER_MAX:
        raise DataError(f"the records before and after each transformation have {size} bytes; ask for fewer records")
    return cut


def _cut(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _cut(member) for name, member in part.items()}
    if isinstance(part, list):
        return [_cut(member) for member in part]
    if isinstance(part, str) and len(part) > _TEXT_MAX:
        return f"{part[:_TEXT_MAX]}... ({len(part)} characters)"
    return part


def transformations_of(plan: Plan) -> list[dict[str, Any]]:
    """`alias`, `class`, `predicate` and `negate` of each."""
    return [
        {
            "alias": link.alias,
            "class": link.class_name,
            "predicate": link.predicate_alias or None,
            "negate": link.negate,
        }
        for link in plan.chain.links
    ]


def _until_its_end(answers: Sequence[Record]) -> list[Record]:
    ended = next((at for at, answer in enumerate(answers) if "dropped" in answer or "error" in answer), len(answers))
    return list(answers[: ended + 1])


def main() -> int:
    """``python -m airflow_kconnect.runtime.preview_steps``: parameters as JSON on standard input; answers JSON."""
    request = json.load(sys.stdin)
    try:
        answer = preview_steps(**request)
    except ConfigError as error:
        answer, code = {"config_errors": error.errors}, error.exit_code
    except DataError as error:
        answer, code = {"data_error": str(error)}, error.exit_code
    else:
        code = 0
    sys.stdout.write(json.dumps(answer) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
