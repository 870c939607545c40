"""Whether a source offset has come as far as another."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.positions.offset_order import reached


@pytest.mark.parametrize(
    ("committed", "wanted", "expected"),
    [
        pytest.param({"position": 7}, {"position": 7}, True, id="equal"),
        pytest.param({"position": 8}, {"position": 7}, True, id="beyond"),
        pytest.param({"position": 6}, {"position": 7}, False, id="before"),
        pytest.param({"position": 10}, {"position": "9"}, True, id="a number as text, not by its letters"),
        pytest.param({"position": 9}, {"position": " -10 "}, True, id="a negative number as text"),
        pytest.param({"ratio": 1}, {"ratio": "0.5"}, True, id="a fraction as text"),
        pytest.param({"id": 5, "ts": 1}, {"id": 5, "ts": 2}, False, id="each field counts"),
        pytest.param({"id": 5, "ts": 1}, {"id": 5}, True, id="other fields do not"),
        pytest.param({"id": 5}, {"ts": 1}, False, id="a field that is not there"),
        pytest.param({"id": None}, {"id": 1}, False, id="a null"),
        pytest.param({"at": "2026-01-02"}, {"at": "2026-01-01"}, True, id="texts"),
    ],
)
def test_reached(committed: dict[str, Any], wanted: dict[str, Any], expected: bool) -> None:
    assert reached(committed, wanted) is expected


@pytest.mark.parametrize(("committed", "wanted"), [("abc", 5), (5, "abc")], ids=["text and number", "number and text"])
def test_what_has_no_order_names_the_field(committed: Any, wanted: Any) -> None:
    with pytest.raises(ConfigError, match="`position` is"):
        reached({"position": committed}, {"position": wanted})
