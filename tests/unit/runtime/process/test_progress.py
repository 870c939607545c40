"""Events that a process prints, kept for who cannot read its output."""

from __future__ import annotations

import pytest

from airflow_kconnect.runtime.process.progress import emit, ends_kept


def test_ends_are_kept_as_they_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[str] = []
    with ends_kept(kept.append):
        emit("phase", name="planning")
        emit("error", error="ConfigError", message="wrong", exit_code=1, errors=None)
    assert kept == capsys.readouterr().out.splitlines(keepends=True)[1:]


def test_a_process_without_a_mailbox_keeps_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[str] = []
    with ends_kept(kept.append):
        pass
    emit("preview", answer={"records": []})
    assert kept == []
