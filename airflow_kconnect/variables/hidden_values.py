"""The values of variables, which texts for people must not contain: their variables stand for them."""

from __future__ import annotations

import re

from airflow_kconnect.variables.secret_forms import secret_forms

# As Airflow's secrets masker.
_SHORTEST_IN_LOG = 5
_Hiding = tuple[int, re.Pattern[str] | None, dict[str, str]]


class HiddenValues:
    """Values that were inserted, by one run or by all runs of a process: what one of them hides, all of them hide.

    Threads may add values while others hide them.
    """

    def __init__(self) -> None:
        self._variable_of: dict[str, str] = {}
        self._hiding: dict[int, _Hiding] = {}

    def __len__(self) -> int:
        return len(self._variable_of)

    @property
    def values(self) -> frozenset[str]:
        """All of them."""
        return frozenset(self._variable_of)

    def add(self, value: str, variable: str) -> None:
        """Hide a value from now on. :param variable: what stands for it."""
        self._variable_of.setdefault(value, variable)

    def hide(self, text: str, shortest: int = 1) -> str:
        """A text in which values are replaced by their variables, including values that are escaped or in a URL.

        Values of up to three characters are replaced only if they are whole words.

        :param shortest: leave values with fewer characters alone.
        """
        size, pattern, variable_of = self._hiding.get(shortest, (0, None, {}))
        if size != len(self._variable_of):
            size, pattern, variable_of = self._hiding[shortest] = self._made(shortest)
        return text if pattern is None else pattern.sub(lambda match: variable_of[match[0]], text)

    def hide_in_log(self, text: str) -> str:
        """`hide` for log lines, where numbers and short words are just that and not secrets."""
        return self.hide(text, _SHORTEST_IN_LOG)

    def _made(self, shortest: int) -> _Hiding:
        known = list(self._variable_of.items())
        values = [(form, name) for value, name in known for form in secret_forms(value)]
        variable_of = {form: name for form, name in reversed(values) if len(form) >= shortest}
        forms = sorted(variable_of, key=len, reverse=True)
        words = (re.escape(form) if len(form) > 3 else rf"(?<!\w){re.escape(form)}(?!\w)" for form in forms)
        return len(known), re.compile("|".join(words)) if forms else None, variable_of
