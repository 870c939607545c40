"""Shortcuts of methods: a class that overrides a method does not mean the shortcut that it inherits for it."""

from __future__ import annotations

from collections.abc import Set


def is_overridden(cls: type, methods: Set[str], shortcuts: Set[str]) -> bool:
    """Whether a class has one of the methods from below the class that has their shortcuts."""
    for each in cls.__mro__:
        if shortcuts & vars(each).keys():
            return False
        if methods & vars(each).keys():
            return True
    return False
