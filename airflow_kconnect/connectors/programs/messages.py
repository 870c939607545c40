"""What the messages of a program say, whichever protocol they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.programs.json_types import Rows


@dataclass(frozen=True)
class Described:
    """From now on the rows of a stream are these."""

    rows: Rows


@dataclass(frozen=True)
class Row:
    """A row of a stream.

    :param at_ms: when the program has read it, in ms since the epoch; None: it does not say.
    """

    stream: str
    values: Mapping[str, Any]
    at_ms: int | None


@dataclass(frozen=True)
class Saved:
    """A state that covers all rows before it.

    :param scope: whose rows: a stream, or None for all of them. :param offset: with the state.
    :param resumable: whether a run can be resumed there, as far as the program says.
    """

    scope: str | None
    offset: Mapping[str, Any]
    resumable: bool = True


Message = Described | Row | Saved | None
"""None: nothing that matters here."""


def parsed(line: bytes, program: str, *, exactly: bool = False) -> dict[str, Any]:
    """The object in a line.

    :param exactly: whether numbers with a point are decimals. :raises DataError: there is none.
    """
    try:
        found = json.loads(line, parse_float=Decimal) if exactly else json.loads(line)
    except ValueError as error:
        place = f" at byte {error.pos:,} of {len(line):,}" if isinstance(error, json.JSONDecodeError) else ""
        text = f"{program} has written a line that is not a message: it is not JSON{place}"
        raise DataError(f"{text}. Only messages may be on its standard output") from None
    if not isinstance(found, dict):
        raise DataError(f"{program} has written a line that is not a message: it is JSON, but not an object")
    return found


def compact(value: Any) -> str:
    """A value as JSON in which equal values are equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=float)
