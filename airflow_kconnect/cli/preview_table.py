"""Records before and after, side by side: a line per member, and what has changed in colour."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

Record = dict[str, Any]

_LINES_MAX = 30
_VALUE_MAX = 500
_FACTS = ("topic", "partition", "timestamp")


def preview_table(before: Sequence[Record], answers: Sequence[Record]) -> Table:
    """A row per record. Long values are cut at the end of their line, so that the sides stay opposite each other."""
    table = Table("", "before", "after", show_lines=True, expand=True)
    for column in table.columns[1:]:
        column.ratio, column.no_wrap, column.overflow = 1, True, "ellipsis"
    for number, (record, answer) in enumerate(zip(before, answers, strict=True), start=1):
        table.add_row(str(number), *_sides(record, answer))
    return table


def _sides(record: Record, answer: Record) -> tuple[Text, Text]:
    old = dict(_members(record))
    if answer.get("dropped"):
        return _lines(old, old), Text("dropped", style="yellow")
    if error := answer.get("error"):
        text = Text(f"{error['stage']}: ", style="red", no_wrap=False, overflow="fold").append(error["message"])
        return _lines(old, old), text
    new = dict(_members(answer))
    names = _chosen([*old, *(name for name in new if name not in old)], old, new)
    return _lines(old, new, names, "red"), _lines(new, old, names, "green")


def _chosen(names: list[str], old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """The names to show: if they are too many those that have changed, and as many others as there is room for."""
    changed = {name for name in names if old.get(name) != new.get(name)}
    room = max(_LINES_MAX - len(changed), 0)
    others = [name for name in names if name not in changed]
    shown = changed | set(others[:room])
    left_out = len(names) - len(shown)
    return [name for name in names if name in shown] + ([f"... {left_out} more, unchanged"] if left_out else [])


def _lines(
    own: Mapping[str, str], other: Mapping[str, str], names: Sequence[str] | None = None, style: str = ""
) -> Text:
    text = Text()
    for number, name in enumerate(own if names is None else names):
        line = f"{name}: {own[name]}" if name in own else name if name.startswith("...") else ""
        text.append("\n" if number else "").append(line, style if own.get(name) != other.get(name) else "dim")
    return text


def _members(record: Record) -> Iterator[tuple[str, str]]:
    """Path and JSON text of all that a record has; a value is shown even if it is null."""
    for name in _FACTS:
        if record.get(name) not in (None, ""):
            yield name, str(record[name])
    if record.get("key") is not None:
        yield from _flat("key", opened(record["key"]))
    yield from _flat("value", opened(record.get("value")))
    seen: Counter[str] = Counter()
    for header in record.get("headers") or ():
        seen[header["key"]] += 1
        count = f" ({seen[header['key']]})" if seen[header["key"]] > 1 else ""
        yield f"header {header['key']}{count}", _shown(opened(header["value"]))


def _flat(name: str, data: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(data, dict) or not data:
        yield name, _shown(data)
        return
    for member, value in data.items():
        yield from _flat(f"{name}.{member}", value)


def _shown(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= _VALUE_MAX else f"{text[:_VALUE_MAX]}... ({len(text)} characters)"


def opened(value: Any) -> Any:
    """A text that is JSON as data, which is easier to read; of an envelope the payload."""
    if not isinstance(value, str):
        return value
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return data["payload"] if isinstance(data, dict) and data.keys() == {"schema", "payload"} else data
