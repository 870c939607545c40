"""connect/run_warnings.py"""

from __future__ import annotations

import json
import pickle

from airflow_kconnect.connect.run_warnings import Kind, RunWarning, kind_of, of_kinds


def test_a_warning_is_its_text_in_json() -> None:
    assert json.dumps([RunWarning(Kind.LOST, "10 records")]) == '["10 records"]'


def test_a_warning_keeps_its_kind_on_the_way_from_a_task() -> None:
    assert kind_of(pickle.loads(pickle.dumps(RunWarning(Kind.LOST, "10 records")))) is Kind.LOST  # noqa: S301


def test_a_plain_text_is_of_unknown_kind() -> None:
    assert kind_of("a text") is Kind.UNKNOWN


def test_warnings_are_chosen_by_kind() -> None:
    lost, doubled = RunWarning(Kind.LOST, "lost"), RunWarning(Kind.DOUBLED, "doubled")
    assert of_kinds([doubled, lost, "other"], frozenset({Kind.LOST})) == [lost]
