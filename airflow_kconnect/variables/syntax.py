"""Variables in configurations, `${provider:key}` and `${provider:path:key}`: how they are found in a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Variable(NamedTuple):
    """A variable in a text: its position, its text, and its parts."""

    start: int
    end: int
    text: str
    provider: str
    path: str
    key: str

    @property
    def address(self) -> str:
        """What it refers to: the same for `${provider:key}` and `${provider::key}`."""
        return f"{self.provider}:{self.path}:{self.key}"


def has_reference(value: object) -> bool:
    """Whether a value contains a variable, of any provider."""
    return isinstance(value, str) and next(variables_in(value), None) is not None


def variables_in(text: str) -> Iterator[Variable]:
    r"""The matches of Connect's `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}`, in linear time even without a closing brace."""
    start = text.find("${")
    while start >= 0 and (end := text.find("}", start)) >= 0:
        provider, colon, rest = text[start + 2 : end].partition(":")
        path, second_colon, key = rest.partition(":")
        if colon:
            path, key = (path, key) if second_colon else ("", rest)
            yield Variable(start, end + 1, text[start : end + 1], provider, path, key)
        start = text.find("${", end)
