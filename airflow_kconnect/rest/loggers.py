"""Levels of Python's loggers, in the words of Connect's `/admin/loggers`."""

from __future__ import annotations

import logging
import time
from typing import Any

_ROOT = "root"
_LEVELS = {
    "OFF": logging.CRITICAL + 10,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG - 5,
}
_modified_ms: dict[str, int] = {}


def is_level(name: str) -> bool:
    """Whether this is a level, in any case."""
    return name.upper() in _LEVELS


def levels() -> dict[str, dict[str, Any]]:
    """Logger -> `level` and `last_modified` (epoch ms; None if not set here): `root`, then those that have a level."""
    known = {_ROOT: logging.getLogger(), **{name: logger for name, logger in _loggers() if logger.level}}
    return {
        name: {"level": _name(logger.level), "last_modified": _modified_ms.get(name)} for name, logger in known.items()
    }


def set_level(name: str, level: str) -> list[str]:
    """Set the level of a logger and of those below it; returns their names, sorted."""
    below = [known for known, _ in _loggers() if known.startswith(f"{name}.") or name == _ROOT]
    changed = sorted({name, *below})
    for each in changed:
        logging.getLogger(None if each == _ROOT else each).setLevel(_LEVELS[level.upper()])
        _modified_ms[each] = int(time.time() * 1000)
    return changed


def _loggers() -> list[tuple[str, logging.Logger]]:
    known = dict(logging.root.manager.loggerDict)
    return sorted((name, logger) for name, logger in known.items() if isinstance(logger, logging.Logger))


def _name(level: int) -> str:
    return min(_LEVELS, key=lambda name: abs(_LEVELS[name] - level))
