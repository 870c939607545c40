"""Which keys of a connector a form shows: those that the chosen mode uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ShownWith:
    """Shows a key if another one has certain values (Confluent's ModeDependentsRecommender); recommends no values.

    :param key: the other one. :param uses: whether a value of it uses the key; called with lower case.
    """

    key: str
    uses: Callable[[str], bool]

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        """None: the key's validator has them."""
        return ()

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        """Not as long as the other key has no value."""
        chosen = parsed.get(self.key)
        return chosen is not None and self.uses(str(chosen).lower())
