"""Fixtures of the JDBC tests."""

from __future__ import annotations

from tests.integration.runtime.conftest import run_here

__all__ = ["run_here"]
