"""Which regular expressions are too ambiguous for an engine that tries all ways."""

from __future__ import annotations

import pytest

from airflow_kconnect.java_text.regex import java_pattern
from airflow_kconnect.java_text.regex_ambiguity import is_explosive


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a|a)*", "(a|b|ab)*", r"(\w+-?)*", "((ab)+)+x", "(a{1,30}){1,30}", "orders-(x+x+)+y", "(a*)*"),
        *("(.*a){12}", "(.*)(.*)(.*)(.*)(.*)x", "(.*)" * 60, "(a*){2147483647}b", "(?=(a+)+)b"),
    ],
)
@pytest.mark.timeout(20)
def test_these_can_take_forever(pattern: str) -> None:
    assert is_explosive(java_pattern(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        *("orders", "(.*)", r"server\.(\w+)\.(\w+)", "(.*)-(.*)-(.*)-(.*)"),
        *("(?i)(orders|customers)(_v[0-9]+)?", "([0-9]{4}){2}", r"([a-z]+\.)*x", "((a|b)+-)*c", "(?:prod|dev)-(.*)"),
        *("([a-z0-9]+(-[a-z0-9]+)*)(\\.[a-z0-9]+(-[a-z0-9]+)*)*", "(x?y?z?)" * 20, "(a|b)" * 80, "", "a++b"),
    ],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_these_cannot(pattern: str) -> None:
    assert not is_explosive(java_pattern(pattern))
