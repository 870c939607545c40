"""Levels of Python's loggers, in the words of Connect's `/admin/loggers`."""

from __future__ import annotations

import logging
import time
from typing import Any

log = logging.getLogger(__name__)

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
# Plugins are imported when a process starts.
_STARTED_MS = int(time.time() * 1000)
_applied: dict[str, tuple[int, int]] = {}


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
    """Set the level of a logger and of those below it; returns the names of those that had another, sorted."""
    below = [known for known, _ in _loggers() if known.startswith(f"{name}.") or name == _ROOT]
    wanted = _LEVELS[level.upper()]
    changed = sorted(each for each in {name, *below} if _logger(each).level != wanted)
    for each in changed:
        _logger(each).setLevel(wanted)
        _modified_ms[each] = int(time.time() * 1000)
    return changed


def follow(name: str, level: str, written: tuple[int, int]) -> None:
    """Apply a level that was set for all processes (KIP-976), unless that was before this one started.

    :param written: timestamp (epoch ms) and offset of its record: one that is read again is not applied again.
    """
    if not is_level(level):
        log.warning("ignoring the level %r of logger %s: it is not one of %s", level, name, ", ".join(_LEVELS))
    elif written[0] >= _STARTED_MS and written > _applied.get(name, (0, -1)):
        _applied[name] = written
        set_level(name, level)


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == _ROOT else name)


def _loggers() -> list[tuple[str, logging.Logger]]:
    known = dict(logging.root.manager.loggerDict)
    return sorted((name, logger) for name, logger in known.items() if isinstance(logger, logging.Logger))


def _name(level: int) -> str:
    return min(_LEVELS, key=lambda name: abs(_LEVELS[name] - level))
