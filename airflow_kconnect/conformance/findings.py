"""What checks find, and why: passed, failed or does not apply; and what a connector may claim after all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_MOST_SHOWN = 3
_LONGEST = 60
_OF_MISSING = {
    False: "an offset must not claim more than was returned before it",
    True: "what was put must be in the target when `flush` returns, or offsets are committed that were not written",
}
_OF_DOUBLED = {
    False: "the connector must resume after its offset",
    True: "a record that is put again must replace itself; if it cannot, let `replay_problem` say so",
}
"""What to do, by whether the connector is a sink."""


class Guarantee(StrEnum):
    """What a connector claims, or may claim."""

    EXACTLY_ONCE = "exactly_once"
    AT_LEAST_ONCE = "at_least_once"
    FULL_READ = "full_read"
    """At least once, and each run reads and writes everything again: nothing says where the last one has ended."""
    NOTHING = "nothing"


class Status(StrEnum):
    """How a check has ended."""

    PASSED = "passed"
    FAILED = "failed"
    DOES_NOT_APPLY = "does not apply"


@dataclass(frozen=True)
class Finding:
    """What a check has found.

    :param text: one sentence: what was found, and what to do if it failed.
    :param missing: how many records have not arrived.
    :param doubled: how many have arrived more often than they should.
    :param full_read: whether it was seen that each run writes everything again.
    """

    check: str
    status: Status
    text: str
    missing: int = 0
    doubled: int = 0
    full_read: bool = False


class Broken(Exception):
    """A check has failed: the connector does not do what connectors do."""

    def __init__(self, text: str, *, missing: int = 0, doubled: int = 0) -> None:
        super().__init__(text)
        self.missing, self.doubled = missing, doubled


class DoesNotApply(Exception):
    """A check says nothing about the connector; the text says why, and what would make it possible."""


@dataclass(frozen=True)
class Passed:
    """A check has passed.

    :param doubled: how many records came twice, where that is allowed. :param full_read: as in `Finding`.
    """

    text: str
    doubled: int = 0
    full_read: bool = False


@dataclass(frozen=True)
class Difference:
    """How what has arrived differs from what should have: records and how often."""

    missing: Counter[str]
    doubled: Counter[str]
    foreign: Counter[str]

    @classmethod
    def of(cls, expected: Counter[str], arrived: Counter[str]) -> Difference:
        """The difference. What was never expected is foreign, not doubled."""
        more = arrived - expected
        doubled = Counter({each: count for each, count in more.items() if each in expected})
        return cls(expected - arrived, doubled, more - doubled)

    def judged(self, after: str, *, may_double: bool, of_sink: bool = False) -> Passed:
        """What it means.

        :param after: what was done before, such as "after a kill". :param may_double: if the connector says so.
        :param of_sink: whether the connector is a sink, for what to do.
        :raises Broken: records are missing, doubled or foreign.
        """
        missing, doubled = self.missing.total(), self.doubled.total()
        if missing:
            text = f"{after}, {_records(self.missing)} missing: {_OF_MISSING[of_sink]}"
            raise Broken(text, missing=missing, doubled=doubled)
        if self.foreign:
            raise Broken(f"{after}, there is what no undisturbed run delivers: {_shown(self.foreign)}")
        if doubled and not may_double:
            text = f"{after}, {_records(self.doubled)} there more than once: {_OF_DOUBLED[of_sink]}"
            raise Broken(text, doubled=doubled)
        if doubled:
            return Passed(f"nothing is missing {after}; {doubled} more than once, as at-least-once allows", doubled)
        return Passed(f"each record is there once {after}")


@dataclass(frozen=True)
class Verdict:
    """What the connector claims, and what it may claim after all that was found.

    :param may: None if too little was checked to say.
    """

    claims: Guarantee
    may: Guarantee | None
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, claims: Guarantee, findings: Iterable[Finding], *, complete: bool) -> Verdict:
        """The verdict. :param complete: whether the checks were not chosen by the user."""
        found = tuple(findings)
        failed = [finding for finding in found if finding.status is Status.FAILED]
        if any(finding.missing for finding in failed) or any(finding.check in _BASICS for finding in failed):
            may: Guarantee | None = Guarantee.NOTHING
        elif any(finding.full_read for finding in found):
            may = Guarantee.FULL_READ
        elif any(finding.doubled for finding in found) or failed:
            may = Guarantee.AT_LEAST_ONCE
        else:
            killed = any(f.check.startswith("killed") and f.status is Status.PASSED for f in found)
            may = Guarantee.EXACTLY_ONCE if complete and killed else None
        return cls(claims, may, found)

    @property
    def kept(self) -> bool:
        """Whether no promise was seen broken."""
        return all(finding.status is not Status.FAILED for finding in self.findings)


# Without these nothing else can be said.
_BASICS = ("runs", "repeats", "second-run")


def _records(records: Counter[str]) -> str:
    total = records.total()
    return f"{total} {'record is' if total == 1 else 'records are'} ({_shown(records)})"


def _shown(records: Counter[str]) -> str:
    texts = [each if len(each) <= _LONGEST else f"{each[:_LONGEST]}..." for each in sorted(records)[:_MOST_SHOWN]]
    return ", ".join(texts) + (", ..." if len(records) > _MOST_SHOWN else "")
