"""What differs, what that means, and what a connector may claim."""

from __future__ import annotations

from collections import Counter

import pytest

from airflow_kconnect.conformance.findings import Broken, Difference, Finding, Guarantee, Status, Verdict

KILL = Finding("killed:mid-produce", Status.PASSED, "each record is there once")
TWICE = Finding("killed:random", Status.PASSED, "2 more than once", doubled=2)
LOST = Finding("bounds", Status.FAILED, "1 record is missing", missing=1)
SECOND = Finding("second-run", Status.FAILED, "a second run wrote 5 records", doubled=5)
ALL_AGAIN = Finding("second-run", Status.PASSED, "it wrote all records again", doubled=5, full_read=True)
DOUBLED = Finding("killed:random", Status.FAILED, "1 record is doubled", doubled=1)


def _difference(expected: str, arrived: str) -> Difference:
    return Difference.of(Counter(expected), Counter(arrived))


def test_equal_records_may_be_there_as_often_as_they_should() -> None:
    assert _difference("aab", "baa").judged("after a run", may_double=False).doubled == 0


@pytest.mark.parametrize(
    ("expected", "arrived", "text"),
    [
        ("ab", "a", "1 record is (b) missing"),
        ("ab", "abb", "1 record is (b) there more than once"),
        ("ab", "abc", "what no undisturbed run delivers: c"),
        ("abcdef", "", "6 records are (a, b, c, ...) missing"),
    ],
)
def test_a_difference_is_a_failure_that_names_records(expected: str, arrived: str, text: str) -> None:
    with pytest.raises(Broken) as broken:
        _difference(expected, arrived).judged("after a kill", may_double=False)
    assert text in str(broken.value)


@pytest.mark.parametrize(
    ("of_sink", "arrived", "cure"),
    [
        (False, "a", "an offset must not claim"),
        (True, "a", "`flush`"),
        (False, "abb", "resume"),
        (True, "abb", "replay"),
    ],
)
def test_a_failure_says_what_to_do_to_a_source_or_to_a_sink(of_sink: bool, arrived: str, cure: str) -> None:
    with pytest.raises(Broken, match=cure):
        _difference("ab", arrived).judged("after a kill", may_double=False, of_sink=of_sink)


def test_more_than_once_is_counted_where_it_is_allowed() -> None:
    assert _difference("ab", "abb").judged("after a kill", may_double=True).doubled == 1


def test_a_missing_record_is_a_failure_even_where_others_may_come_twice() -> None:
    with pytest.raises(Broken) as broken:
        _difference("ab", "aa").judged("after a kill", may_double=True)
    assert (broken.value.missing, broken.value.doubled) == (1, 1)


@pytest.mark.parametrize(
    ("findings", "may"),
    [
        ([KILL], Guarantee.EXACTLY_ONCE),
        ([KILL, TWICE], Guarantee.AT_LEAST_ONCE),
        ([KILL, DOUBLED], Guarantee.AT_LEAST_ONCE),
        ([KILL, LOST], Guarantee.NOTHING),
        ([KILL, SECOND], Guarantee.NOTHING),
        ([KILL, TWICE, ALL_AGAIN], Guarantee.FULL_READ),
        ([KILL, LOST, ALL_AGAIN], Guarantee.NOTHING),
        ([Finding("offsets", Status.PASSED, "plain")], None),
    ],
)
def test_what_a_connector_may_claim(findings: list[Finding], may: Guarantee | None) -> None:
    assert Verdict.of(Guarantee.EXACTLY_ONCE, findings, complete=True).may is may


def test_a_few_checks_say_nothing_of_what_it_may_claim() -> None:
    assert Verdict.of(Guarantee.EXACTLY_ONCE, [KILL], complete=False).may is None


@pytest.mark.parametrize(("finding", "kept"), [(KILL, True), (TWICE, True), (DOUBLED, False)])
def test_a_promise_is_broken_by_a_check_that_failed(finding: Finding, kept: bool) -> None:
    assert Verdict.of(Guarantee.AT_LEAST_ONCE, [finding], complete=True).kept is kept
