"""Java's regular expressions for names; what each of them matches was told by Java."""

from __future__ import annotations

import re

import pytest

from airflow_kconnect.java_text.regex import java_pattern
from airflow_kconnect.java_text.regex_matching import TooManyWaysError

NAMES = ("", "a", "A", "b", "ab", "ba", "aa", "aaa", "aab", "abcd", "a.b", "a-b", "a1", "-", "_", "]", "é")


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        (r"", {""}),
        (r"a|b", {"a", "b"}),
        (r"|a", {"", "a"}),
        (r"(a|ab)(c|bcd)", {"abcd"}),
        (r"a{2}", {"aa"}),
        (r"a{2,}", {"aa", "aaa"}),
        (r"a{1,2}b?", {"a", "ab", "aa", "aab"}),
        (r"a*?b", {"b", "ab", "aab"}),
        (r"a++", {"a", "aa", "aaa"}),
        (r"a++a", set()),
        (r"[ab]*+b", set()),
        (r"(a*)*", {"", "a", "aa", "aaa"}),
        (r"[a-c]+", {"a", "b", "ab", "ba", "aa", "aaa", "aab"}),
        (r"[a-z&&[^b]]+", {"a", "aa", "aaa"}),
        (r"[a[bc]]", {"a", "b"}),
        (r"[]a]", {"a", "]"}),
        (r"[a-]", {"a", "-"}),
        (r"[^\w.-]+", {"]", "é"}),
        (r"\p{L}", {"a", "A", "b", "é"}),
        (r"\p{Lu}|\p{Punct}", {"A", "-", "_", "]"}),
        (r"\P{Alpha}", {"-", "_", "]", "é"}),
        (r"\Qa.b\E", {"a.b"}),
        (r"\Qab\E*", {"a", "ab"}),
        (r"(?i)ab?", {"a", "A", "ab"}),
        (r"(?i:a)", {"a", "A"}),
        (r"(?i)[^a]", {"b", "-", "_", "]", "é"}),
        (r"(?x) a b # c", {"ab"}),
        (r"(?=a).*", {"a", "ab", "aa", "aaa", "aab", "abcd", "a.b", "a-b", "a1"}),
        (r"a.*(?<!b)", {"a", "aa", "aaa", "abcd", "a1"}),
        (r"(?<n>a|b)\k<n>", {"aa"}),
        (r"(a+)\1?.?\1", {"aa", "aaa"}),
        (r"a\b.*", {"a", "a.b", "a-b"}),
        (r"\x61[\u0062\d]", {"ab", "a1"}),
        (r"^a$|\Ab\z", {"a", "b"}),
    ],
)
def test_names_that_match(pattern: str, matched: set[str]) -> None:
    compiled = java_pattern(pattern)
    assert {name for name in NAMES if compiled.fullmatch(name)} == matched


@pytest.mark.parametrize(
    "pattern",
    [
        *("a{", "a{,3}", "{", "a**", "*a", "a)", "(", "[", "[]", "[z-a]", r"\y", "\\", "(?P<n>a)", "(?#c)", "|*"),
        *("(?<n>a)(?<n>b)", "a{2,1}", r"\p{Nope}", r"\k<n>", "a{99999999999}", r"\x", "[[:alpha:]", "a{1"),
        *("(?>a)", "(a)*+", r"\X", r"\p{IsLatin}"),
    ],
)
def test_what_java_refuses_or_is_not_understood_here(pattern: str) -> None:
    with pytest.raises(re.error):
        java_pattern(pattern)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)x", "(.*a){12}", "((a*)*)*b", "(a{1,100}){1,100}$"),
        *(".*a.*b.*c.*d", "(a*){2147483647}b", "(((a{0,50}){0,50}){0,50}){0,50}b"),
    ],
)
def test_no_name_takes_long(pattern: str) -> None:
    assert not java_pattern(pattern).fullmatch("a" * 248 + "-")


@pytest.mark.timeout(20)
def test_what_would_take_long_is_given_up() -> None:
    with pytest.raises(TooManyWaysError, match="takes too long to match"):
        java_pattern(r"(a+)+\1\1$").fullmatch("a" * 248 + "-")


@pytest.mark.timeout(5)
@pytest.mark.parametrize("pattern", ["(" * 100_000, "[" * 100_000, "(a" * 5_000 + ")" * 5_000, "a" * 1_000_000])
def test_extreme_expressions_are_refused(pattern: str) -> None:
    with pytest.raises(re.error):
        java_pattern(pattern)
