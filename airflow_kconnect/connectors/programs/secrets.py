"""What must not be in a log: secrets of a program's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.variables.secret_forms import secret_forms
from airflow_kconnect.variables.secret_keys import is_secret, passwords_in

_SHORTEST = 3
"""A shorter text is in too many others: to hide it would tell nothing, and make them unreadable."""


class Secrets:
    """Hides the secrets of a configuration in texts.

    :param config: a program's. :param named: names of members that are secrets, whatever they look like.
    """

    def __init__(self, config: Mapping[str, Any], named: frozenset[str] = frozenset()) -> None:
        found = {form for text in _secrets(config, named, inside=False) for form in secret_forms(text)}
        self._texts = sorted((text for text in found if len(text) >= _SHORTEST), key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """The text without them, and without what looks like a password."""
        for secret in self._texts:
            text = text.replace(secret, "...")
        for password in list(passwords_in(text)):
            text = text.replace(password, "...")
        return text


def _secrets(value: Any, named: frozenset[str], *, inside: bool) -> Iterator[str]:
    """:param inside: whether the value belongs to a member that is a secret."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _secrets(member, named, inside=inside or name in named or is_secret(str(name), member))
    elif isinstance(value, list):
        for item in value:
            yield from _secrets(item, named, inside=inside)
    elif isinstance(value, str) and inside:
        yield value
        yield from value.splitlines()
    elif isinstance(value, int | float) and inside and not isinstance(value, bool):
        yield str(value)
