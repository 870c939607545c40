"""Whether a source offset has reached another. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError


def reached(committed: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether each wanted field is there and at least as large; numbers may be given as strings, as templates render
    them.

    :raises ConfigError: a field cannot be compared with the committed one, such as a number with a string.
    """
    return all(_field_reached(key, committed.get(key), value) for key, value in wanted.items())


def _field_reached(key: str, committed: Any, wanted: Any) -> bool:
    if committed is None:
        return False
    if isinstance(wanted, str) and isinstance(committed, int | float):
        wanted = _number(key, wanted)
    if isinstance(committed, str) != isinstance(wanted, str):
        text = f"`{key}` is {wanted!r}, which cannot be compared with the committed {committed!r}"
        raise ConfigError({"offset": [text]})
    far_enough: bool = committed >= wanted
    return far_enough


def _number(key: str, text: str) -> float:
    try:
        return int(text) if text.strip().lstrip("-").isdecimal() else float(text)
    except ValueError:
        raise ConfigError({"offset": [f"`{key}` is {text!r}, but the committed one is a number"]}) from None
