"""Runs a connector many times, kills it, and says what it may claim: `kconnect conformance`, and fixtures of pytest."""

from airflow_kconnect.conformance.harness import Arrived, Failure, SinkHarness, SourceHarness

__all__ = ["Arrived", "Failure", "SinkHarness", "SourceHarness"]
