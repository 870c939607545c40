"""Validators for single configuration values, with the error texts of Kafka's ConfigDef."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.java_text.regex import java_pattern

Validator = Callable[[str, Any], None]
"""Called with a key and its parsed value (or null); raises ConfigError if the value is not allowed."""

_SHOWN_MAX = 10_000
# The same limit as for topic names, so that files can be named after connectors.
_NAME_MAX = 249
# Format characters (including those that change the text direction), line and paragraph separators.
_UNSEEN = ("Cf", "Zl", "Zp")


def java_text(value: Any) -> str:
    """A value as Java prints it: error texts and REST responses show values that way."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(java_text, value))}]"
        case _:
            return str(value)


def invalid(name: str, value: Any, message: str) -> ConfigError:
    """The error that corresponds to Kafka's ConfigException(name, value, message)."""
    text = java_text(value)
    shown = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}... ({len(text)} characters)"
    return ConfigError({name: [f"Invalid value {shown} for configuration {name}: {message}"]})


@dataclass(frozen=True)
class Range:
    """A number within bounds; null is rejected, as in ConfigDef.Range (see `nullable`)."""

    minimum: float | None = None
    maximum: float | None = None

    @classmethod
    def at_least(cls, minimum: float) -> Range:
        return cls(minimum=minimum)

    @classmethod
    def between(cls, minimum: float, maximum: float) -> Range:
        return cls(minimum, maximum)

    def __call__(self, name: str, value: Any) -> None:
        if value is None:
            raise invalid(name, value, "Value must be non-null")
        if self.minimum is not None and value < self.minimum:
            raise invalid(name, value, f"Value must be at least {self.minimum}")
        if self.maximum is not None and value > self.maximum:
            raise invalid(name, value, f"Value must be no more than {self.maximum}")


@dataclass(frozen=True)
class ValidString:
    """One of several strings (ConfigDef.ValidString and ConfigDef.CaseInsensitiveValidString)."""

    allowed: tuple[str, ...]
    case_insensitive: bool = False
    choices: tuple[str, ...] = ()
    """The allowed strings as they are usually written."""

    @classmethod
    def in_(cls, *allowed: str) -> ValidString:
        return cls(allowed, choices=allowed)

    @classmethod
    def in_case_insensitive(cls, *allowed: str) -> ValidString:
        return cls(tuple(word.upper() for word in allowed), case_insensitive=True, choices=allowed)

    def __call__(self, name: str, value: Any) -> None:
        if value is not None and (value.upper() if self.case_insensitive else value) in self.allowed:
            return
        how = " (case insensitive)" if self.case_insensitive else ""
        raise invalid(name, value, f"String must be one of{how}: {', '.join(self.allowed)}")


@dataclass(frozen=True)
class NonEmptyString:
    """Any text except the empty one; null passes."""

    def __call__(self, name: str, value: Any) -> None:
        if value == "":
            raise invalid(name, value, "String must be non-empty")


@dataclass(frozen=True)
class NonEmptyStringWithoutControlChars:
    """A valid connector name; null passes, because a missing name is a different error.

    Connect rejects only control characters. Invisible ones can make two names look the same, or disguise a log line;
    and files are named after connectors.
    """

    def __call__(self, name: str, value: Any) -> None:
        if value == "":
            raise invalid(name, value, "String may not be empty")
        controls = [str(ord(char)) for char in value or "" if unicodedata.category(char) == "Cc"]
        if controls:
            what = "String may not contain control sequences but had the following ASCII chars: "
            raise invalid(name, value, what + ", ".join(controls))
        unseen = [f"U+{ord(char):04X}" for char in value or "" if unicodedata.category(char) in _UNSEEN]
        if unseen:
            shown = ascii(value)[1:-1]
            raise invalid(name, shown, f"String may not contain invisible characters but had {', '.join(unseen)}")
        if len(value or "") > _NAME_MAX:
            shown = f"{value[:30]}..."
            raise invalid(name, shown, f"String may not have more than {_NAME_MAX} characters, and has {len(value)}")


@dataclass(frozen=True)
class ValidList:
    """A list without null, empty or repeated entries (ConfigDef.ValidList, KIP-1161)."""

    empty_allowed: bool = True
    null_allowed: bool = False
    allowed: tuple[str, ...] = ()

    @classmethod
    def in_(cls, *allowed: str) -> ValidList:
        return cls(allowed=allowed)

    @property
    def choices(self) -> tuple[str, ...]:
        """What an entry can be; empty: anything."""
        return self.allowed

    def __call__(self, name: str, value: Any) -> None:
        if value is None:
            if not self.null_allowed:
                raise self._error(name, "values must not be null.")
            return
        if not value and not self.empty_allowed:
            known = java_text(self.allowed) if self.allowed else "any non-empty value"
            raise self._error(name, f"must not be empty. Valid values include: {known}")
        if len(set(value)) != len(value):
            raise self._error(name, "values must not be duplicated.")
        if "" in value:
            raise self._error(name, "values must not be empty.")
        self._check_entries(name, value)

    def _check_entries(self, name: str, entries: Sequence[str]) -> None:
        for entry in entries if self.allowed else ():
            ValidString(self.allowed)(name, entry)

    @staticmethod
    def _error(name: str, message: str) -> ConfigError:
        return ConfigError({name: [f"Configuration '{name}' {message}"]})


@dataclass(frozen=True)
class Regex:
    """A regular expression in Java's syntax, or a list of them; null and empty pass."""

    def __call__(self, name: str, value: Any) -> None:
        for pattern in [value] if isinstance(value, str) else dict.fromkeys(value or ()):
            try:
                java_pattern(pattern)
            except re.error as error:
                raise invalid(name, value, f"Invalid regex: {error}") from None


@dataclass(frozen=True)
class LambdaValidator:
    """A custom rule.

    :param rule: called with key and value; returns the message if the value is wrong, else None.
    """

    rule: Callable[[str, Any], str | None]

    def __call__(self, name: str, value: Any) -> None:
        if message := self.rule(name, value):
            raise invalid(name, value, message)


@dataclass(frozen=True)
class _Nullable:
    inner: Validator

    def __call__(self, name: str, value: Any) -> None:
        if value is not None:
            self.inner(name, value)

    @property
    def choices(self) -> tuple[str, ...]:
        return choices_of(self.inner)


def nullable(validator: Validator) -> Validator:
    """The same validator for an optional key: null passes."""
    return _Nullable(validator)


def choices_of(validator: Validator | None) -> tuple[str, ...]:
    """The values that a validator accepts, of a list: the entries; empty: there are too many to name."""
    return tuple(getattr(validator, "choices", ()))


def all_of(*validators: Validator) -> Validator:
    """All validators in turn; the first failure is reported (ConfigDef.CompositeValidator)."""

    def check(name: str, value: Any) -> None:
        for validator in validators:
            validator(name, value)

    return check
