"""What all that writes into folders shares."""

from __future__ import annotations

import re

from airflow_kconnect.places.folders import HIDDEN_SUFFIX, hidden_name


def test_hidden_names_are_unique_and_recognised() -> None:
    one, other = hidden_name("a.txt"), hidden_name("a.txt")
    assert one != other
    assert re.fullmatch(r"\.a\.txt" + HIDDEN_SUFFIX, one)
