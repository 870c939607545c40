"""Rounds, medians, ratios and CPU time of the benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

from benchmarks.measure import CONNECT, OURS, Contender, Pass, Row, alternate, cpu_seconds


def row(side: str, *rates: int) -> Row:
    return Row("File to Kafka", side, "tuned", 1, 200.0, [Pass(rate, 1.0) for rate in rates])


def test_the_median_counts() -> None:
    assert row(OURS, 10, 40, 30).median == 30


def test_the_best_is_shown_next_to_it() -> None:
    assert row(OURS, 10, 40, 30).best == 40


def test_a_ratio_is_that_of_the_medians_and_of_single_rounds() -> None:
    assert row(OURS, 30, 40, 60).ratios(row(CONNECT, 10, 20, 20)) == (2.0, 2.0, 3.0)


def test_a_row_survives_json() -> None:
    written = row(OURS, 10, 40)
    assert Row.of(json.loads(json.dumps(written.as_dict()))) == written


def rounds(passes: int) -> tuple[list[str], list[Row]]:
    seen: list[str] = []

    def run(who: str, name: str) -> Pass:
        seen.append(who)
        return Pass(len(seen), 1.0)

    contenders = [Contender(who, "", 1, partial(run, who)) for who in "ab"]
    return seen, alternate("File to Kafka", contenders, 200.0, passes, lambda text: None)


def test_contenders_take_turns_and_change_their_order() -> None:
    assert "".join(rounds(2)[0]) == "abbaab"


def test_the_first_round_does_not_count() -> None:
    assert [[each.records for each in row.passes] for row in rounds(1)[1]] == [[4], [3]]


def test_no_two_passes_have_the_same_name() -> None:
    names: list[str] = []

    def run(name: str) -> Pass:
        names.append(name)
        return Pass(1, 1.0)

    alternate("File to Kafka", [Contender(who, "", 1, run) for who in "ab"], 200.0, 2, lambda text: None)
    assert len(set(names)) == 6


def test_cpu_time_of_a_child_that_has_ended_counts() -> None:
    before = cpu_seconds([os.getpid()])
    subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
    assert cpu_seconds([os.getpid()]) - before > 0.1
