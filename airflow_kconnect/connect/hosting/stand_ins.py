"""Stand-ins for Java connectors where a class is asked what is altered outside of Kafka: nothing is known of it."""

from __future__ import annotations

from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.connect.connector.source import SourceConnector


class HostedSource(SourceConnector):
    """Never instantiated: a hosted run has the Java class itself."""


class HostedSink(SinkConnector):
    """Never instantiated: a hosted run has the Java class itself."""
