"""Java's regular expressions and replacements, judged without running them."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.expressions.java_regexes import JAVA_REGEX, replacement_problem


@pytest.mark.parametrize(
    "regex",
    [
        "",
        r"(.*)\.(.*)",
        "(?<name>a+)b*",
        r"\p{L}+[\p{N}&&[^0]]",
        r"\Qa.b(",
        "[a[bc]]",
        "a++b",
        "a(?i)b",
        "(?<=a{1,3})b",
        r"\x{1F600}",
        r"\R\h*\z",
        "[{(]{2,}",
        r"\{x\}",
    ],
)
def test_what_java_knows_is_accepted(regex: str) -> None:
    JAVA_REGEX("regex", regex)


@pytest.mark.parametrize(
    "regex",
    [
        "(",
        "[",
        "*",
        "a**",
        "a)",
        "\\",
        "[z-a]",
        r"\y",
        "(?<n>a)(?<n>b)",
        "a{",
        "${topic}",
        "a{,3}",
        "(?P<n>a)",
        "(?#c)",
    ],
)
def test_what_java_does_not_know_is_refused(regex: str) -> None:
    with pytest.raises(ConfigError, match="for configuration regex: Invalid regex"):
        JAVA_REGEX("regex", regex)


@pytest.mark.timeout(20)
def test_what_java_would_match_forever_is_refused() -> None:
    with pytest.raises(ConfigError, match="can take forever to match"):
        JAVA_REGEX("regex", "(a+)+$" * 20)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("regex", ["(" * 100_000, "(a" * 5_000 + ")" * 5_000, "a{99999999999999999999}"])
def test_extreme_expressions_are_refused_in_no_time(regex: str) -> None:
    with pytest.raises(ConfigError):
        JAVA_REGEX("regex", regex)


@pytest.mark.parametrize(
    ("regex", "replacement"),
    [
        ("(a)(b)", "$2-$1"),
        ("(a)", "$10"),
        ("a", r"$0 \$1 \\"),
        ("(?<n>a)", "${n}$1"),
        ("", "plain"),
    ],
)
def test_references_to_groups_that_there_are(regex: str, replacement: str) -> None:
    assert replacement_problem(regex, replacement) is None


@pytest.mark.parametrize(
    ("regex", "replacement", "problem"),
    [
        ("a", "$1", "No group 1"),
        ("(?:a)(?=b)(?<!c)(?i)", "$1", "No group 1"),
        (r"\(a\)[(]\Q(\E", "$1", "No group 1"),
        ("(a)", "$2", "No group 2"),
        ("(?<n>a)", "${m}", "No group with name {m}"),
        ("a", "$", "Illegal group reference"),
        ("a", "$x", "Illegal group reference"),
        ("(?<n>a)", "${n", "named capturing group is missing trailing '}'"),
        ("a", "${}", "named capturing group is missing trailing '}'"),
        ("a", "x\\", "character to be escaped is missing"),
    ],
)
def test_replacements_that_would_fail(regex: str, replacement: str, problem: str) -> None:
    assert replacement_problem(regex, replacement) == problem
