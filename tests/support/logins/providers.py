"""Providers of tokens of a test's own, and a process that knows nothing of those of other tests."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from airflow_kconnect.connect.token_provider import TokenProvider
from airflow_kconnect.kafka.logins import callback
from airflow_kconnect.worker_config.oauth_keys import GROUP


def provide(monkeypatch: pytest.MonkeyPatch, name: str, provider: type[TokenProvider]) -> None:
    """Have an entry point of this name for a class of a test."""
    found = {name: EntryPoint(name, f"{provider.__module__}:{provider.__qualname__}", GROUP)}
    monkeypatch.setattr(callback, "installed", lambda: found)
    forget()


def forget() -> None:
    """Make each provider again, whose next token is a new one."""
    callback._provider.cache_clear()
    callback._prove.cache_clear()
    callback._failures.clear()
