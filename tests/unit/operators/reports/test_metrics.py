"""Metrics as monitoring systems get them: a StatsD listener and an OTLP collector, both real."""

from __future__ import annotations

import atexit
import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk._shared.observability.metrics.otel_logger import flush_otel_metrics
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics.stats_utils import get_stats_factory

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator
from tests.support.connectors.connector_tasks import SINK, SOURCE, context, ending_with, fake_spark, report
from tests.support.spark.fake_spark import FakeSpark

BAD = {"read": 9, "written": 6, "filtered": 1, "dead_lettered": 2}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    return fake_spark(tmp_path, monkeypatch)


def _begin(monkeypatch: pytest.MonkeyPatch, **options: object) -> None:
    """Switch Airflow's metrics on, as its task runner does."""
    for name, value in options.items():
        monkeypatch.setenv(f"AIRFLOW__METRICS__{name.upper()}", str(value))
    stats.initialize(factory=get_stats_factory(), export_legacy_names=False)


@pytest.fixture
def statsd(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(5)
        port = listener.getsockname()[1]
        _begin(monkeypatch, statsd_on=True, statsd_host="127.0.0.1", statsd_port=port, statsd_influxdb_enabled=True)
        yield listener
    monkeypatch.undo()
    stats.initialize(factory=get_stats_factory(), export_legacy_names=False)


def _received(listener: socket.socket) -> set[str]:
    """All that was sent; the last line is ours."""
    stats.incr("the-end")
    lines: set[str] = set()
    while not any("the-end" in line for line in lines):
        lines.add(listener.recv(4096).decode())
    return {line.removeprefix("airflow.kconnect.") for line in lines if "kconnect" in line}


def _run(spark: FakeSpark, operator: Any, connector: dict[str, str], content: dict[str, Any]) -> None:
    spark.behave(ending_with(content))
    operator(task_id="t", connector=connector).execute(context())


class TestStatsd:
    def test_a_source_counts_what_it_polled_wrote_and_could_not_write(
        self, spark: FakeSpark, statsd: socket.socket
    ) -> None:
        _run(spark, KafkaSourceOperator, SOURCE, report(records=BAD))

        tags = "dag_id=d,task_id=t,connector=lines,kind=source"
        assert _received(statsd) == {
            f"source-record-poll-total,{tags}:9|c",
            f"source-record-write-total,{tags}:6|c",
            f"total-record-failures,{tags}:2|c",
            f"total-record-errors,{tags}:2|c",
            f"total-records-skipped,{tags}:2|c",
        }

    def test_a_sink_counts_too_and_says_how_far_it_is_behind(self, spark: FakeSpark, statsd: socket.socket) -> None:
        content = report("sink", records=BAD, lag={"lines": 5, "more": 3}, lag_max=4, notes={"blocked": {"lines-0": 2}})
        _run(spark, KafkaSinkOperator, {**SINK, "errors.deadletterqueue.topic.name": "bad"}, content)

        tags = "dag_id=d,task_id=t,connector=files,kind=sink"
        assert _received(statsd) >= {
            f"sink-record-read-total,{tags}:9|c",
            f"sink-record-send-total,{tags}:6|c",
            f"deadletterqueue-produce-requests,{tags}:2|c",
            f"sink-record-lag-max,{tags}:4|g",
            f"sink-record-blocked,{tags}:2|g",
            f"sink-record-lag,{tags},topic=lines:5|g",
            f"sink-record-lag,{tags},topic=more:3|g",
        }

    def test_a_lag_that_is_not_known_is_not_reported_as_zero(self, spark: FakeSpark, statsd: socket.socket) -> None:
        _run(spark, KafkaSinkOperator, SINK, report("sink", lag={}, lag_max=None))

        assert not [line for line in _received(statsd) if "lag" in line]


class Collector(HTTPServer):
    """An OpenTelemetry collector for metrics, by HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.points: dict[str, tuple[Any, dict[str, str]]] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
                kind = metric.WhichOneof("data")
                point = getattr(metric, kind).data_points[0]
                tags = {tag.key: tag.value.string_value for tag in point.attributes}
                self.points[metric.name] = ((kind, getattr(point, point.WhichOneof("value"))), tags)


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not to the test's output."""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    server = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", f"http://127.0.0.1:{server.server_port}/v1/metrics")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf")
    _begin(monkeypatch, otel_on=True)
    yield server
    monkeypatch.undo()
    stats.initialize(factory=get_stats_factory(), export_legacy_names=False)
    atexit.unregister(flush_otel_metrics)
    server.shutdown()
    server.server_close()


class TestOpenTelemetry:
    def test_a_collector_gets_counters_and_gauges_with_their_tags(self, spark: FakeSpark, collector: Collector) -> None:
        from opentelemetry import metrics

        _run(spark, KafkaSinkOperator, SINK, report("sink", lag={"lines": 5}, lag_max=4))
        provider: Any = metrics.get_meter_provider()
        provider.shutdown()

        tags = {"connector": "files", "kind": "sink", "dag_id": "d", "task_id": "t"}
        assert collector.points["airflow.kconnect.sink-record-send-total"] == (("sum", 7), tags)
        assert collector.points["airflow.kconnect.sink-record-lag-max"] == (("gauge", 4), tags)
