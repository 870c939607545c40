"""Free ports for servers that take a while to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.local import ports


def test_a_free_port_is_none_that_the_system_gives_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (given_out := tmp_path / "range").write_text("16000\t60999\n")
    monkeypatch.setattr(ports, "_GIVEN_OUT", given_out)
    assert all(15_000 <= ports.free_port() < 16_000 for _ in range(20))


def test_where_the_system_gives_out_all_of_them_it_is_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (given_out := tmp_path / "range").write_text("1024\t65535\n")
    monkeypatch.setattr(ports, "_GIVEN_OUT", given_out)
    assert not ports.is_taken(ports.free_port())


def test_a_port_that_is_taken_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def taken_at_first(port: int) -> bool:
        asked.append(port)
        return len(asked) < 3

    monkeypatch.setattr(ports, "is_taken", taken_at_first)
    assert ports.free_port() == asked[2]
