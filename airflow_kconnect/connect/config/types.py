"""The parts of a configuration definition: types, keys, values, and the parsing of one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Protocol

from airflow_kconnect.connect.config.validators import Validator, choices_of, invalid, java_text

NULL_VALUE: Final = "Null value can not be supplied as the configuration value."


class Type(Enum):
    """Type of a configuration value."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"


class Importance(Enum):
    """How much a user should care about a key; in the order in which keys are shown."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(Enum):
    """How wide a user interface should draw the input field of a key."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class _NoDefault(Enum):
    NO_DEFAULT = "no default"


NO_DEFAULT: Final = _NoDefault.NO_DEFAULT
"""The default of a required key; None is a default like any other (Java's null)."""


@dataclass(frozen=True)
class Password:
    """A value that is never printed; `value` is the secret."""

    value: str

    def __repr__(self) -> str:
        return "[hidden]"


class Recommender(Protocol):
    """Suggestions for a key in a user interface, given the parsed values of all keys."""

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]: ...

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool: ...


@dataclass(frozen=True)
class ConfigKey:
    """One configuration key; `default` is already parsed.

    :param without_effect: why the key is accepted but not used; empty for a key that is used.
    :param example: a value as users write it, for the empty field of a form.
    """

    name: str
    type: Type
    default: Any = NO_DEFAULT
    validator: Validator | None = None
    importance: Importance = Importance.MEDIUM
    documentation: str = ""
    group: str | None = None
    order_in_group: int = -1
    width: Width = Width.NONE
    display_name: str = ""
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None
    without_effect: str = ""
    example: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that the key can have, of a list: its entries; empty: there are too many to name."""
        return ("true", "false") if self.type is Type.BOOLEAN else choices_of(self.validator)

    @property
    def required(self) -> bool:
        return self.default is NO_DEFAULT

    @property
    def described(self) -> str:
        """The documentation, including the reason why the key has no effect."""
        note = f"Without effect here: {self.without_effect}." if self.without_effect else ""
        return f"{self.documentation} {note}".strip()


@dataclass
class ConfigValue:
    """The validation result for one key of a user's configuration."""

    name: str
    value: Any = None
    recommended_values: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True


def java_trim(text: str) -> str:
    """Java's String.trim: unlike str.strip, it removes all control characters and no other Unicode space."""
    return text.strip("".join(map(chr, range(0x21))))


def coerce(value: Any) -> str:
    """Text of a JSON value, as Jackson gives it to Connect: 1 -> "1", true -> "true".

    :raises ValueError: the value is null or nested; the message can be shown to users, it does not contain the value.
    """
    match value:
        case str():
            return value
        case bool() | int() | float():
            return java_text(value)
        case None:
            raise ValueError(NULL_VALUE)
        case Mapping() | list() | tuple():
            what = "an object" if isinstance(value, Mapping) else "a list"
            raise ValueError(f"Expected a string, a number or a boolean, but found {what}.")
        case _:
            raise ValueError(f"Expected a string, but found a value of type {type(value).__name__}.")


def texts_of(config: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The values of a configuration as trimmed text; and by key what is wrong with the others, which are null or
    nested.
    """
    texts: dict[str, str] = {}
    errors: dict[str, list[str]] = {}
    for key, value in config.items():
        try:
            texts[key] = java_trim(coerce(value))
        except ValueError as error:
            errors[key] = [str(error)]
    return texts, errors


def parse_type(name: str, value: Any, type_: Type) -> Any:
    """Parse a value to its key's type (ConfigDef.parseType); null stays null, typed values stay as they are.

    :raises ConfigError: the value is not of this type.
    """
    if value is None or (type_ is Type.PASSWORD and isinstance(value, Password)):
        return value
    if type_ is Type.LIST and isinstance(value, list | tuple):
        return list(value)
    try:
        return _PARSERS[type_](java_trim(coerce(value)))
    except ValueError as error:
        shown = "[hidden]" if type_ is Type.PASSWORD else value
        raise invalid(name, shown, str(error)) from None


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return text.lower() == "true"


def _integer(type_: str, bits: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch(r"[+-]?0*\d{1,19}", text) and -(1 << bits - 1) <= int(text) < 1 << bits - 1:
            return int(text)
        raise ValueError(f"Not a number of type {type_}")

    return parse


def _double(text: str) -> float:
    if re.fullmatch(r"[+-]?(NaN|Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?)", text, re.ASCII):
        return float(text.rstrip("fFdD"))
    raise ValueError("Not a number of type DOUBLE")


def _list(text: str) -> list[str]:
    return re.split(r"\s*,\s*", text, flags=re.ASCII) if text else []


_PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.BOOLEAN: _boolean,
    Type.STRING: str,
    Type.INT: _integer("INT", 32),
    Type.SHORT: _integer("SHORT", 16),
    Type.LONG: _integer("LONG", 64),
    Type.DOUBLE: _double,
    Type.LIST: _list,
    # The plugin registry knows the classes: nothing is ever imported because a configuration names it.
    Type.CLASS: str,
    Type.PASSWORD: Password,
}
