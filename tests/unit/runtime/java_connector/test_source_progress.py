"""What a report says of a Debezium source that has caught up only as far as silence says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from airflow_kconnect.hosted.known.debezium import DEBEZIUM, Beans
from airflow_kconnect.runtime.java_connector.source_progress import Offsets, SourceProgress

ORACLE = "io.debezium.connector.oracle.OracleConnector"
HEARTBEAT = {"heartbeat.interval.ms": "1000"}
_TASK = dict.fromkeys(("source-record-poll-total", "source-record-write-total", "source-record-active-count"), 0.0)


def offsets(scn: int) -> Callable[[], Offsets]:
    found: list[dict[str, Any]] = [{"partition": {"server": "erp"}, "offset": {"scn": str(scn)}}]
    return lambda: found


def read(pattern: str) -> Beans:
    """A stream on which nothing moves."""
    if pattern != DEBEZIUM:
        return {"task": _TASK}
    return {"debezium.oracle:context=streaming,server=erp,type=connector-metrics": {"Connected": True}}


def ended(props: dict[str, str], *, began: int, then: int, connector_class: str = ORACLE) -> list[str]:
    """The warnings of a run that has ended by silence."""
    source = SourceProgress(connector_class, {"kconnect.hosted.idle.ms": "0", **props}, 0)
    source.check(offsets(began))
    assert not source.is_known or source.look(read)
    source.finish(offsets(then))
    return source.warnings


@pytest.mark.parametrize(
    ("props", "then", "texts"),
    [
        pytest.param({}, 6, ["`heartbeat.interval.ms`"], id="no heartbeat"),
        pytest.param({}, 5, ["`heartbeat.interval.ms`", "at which it began"], id="no heartbeat, and the same offset"),
        pytest.param(HEARTBEAT, 5, ["at which it began"], id="the same offset"),
        pytest.param(HEARTBEAT, 6, [], id="it moves"),
    ],
)
def test_a_stall_is_named(props: dict[str, str], then: int, texts: list[str]) -> None:
    warnings = ended(props, began=5, then=then)
    assert len(warnings) == bool(texts)
    assert all(text in warning for warning in warnings for text in texts)


def test_a_connector_that_only_makes_a_snapshot_reads_no_log() -> None:
    source = SourceProgress(ORACLE, {"snapshot.mode": "initial_only"}, 0)
    source.check(offsets(5))
    source.finish(offsets(5))
    assert source.warnings == []


def test_other_classes_have_no_log() -> None:
    assert ended({}, began=5, then=5, connector_class="org.example.Source") == []


def test_silence_must_last_longer_unless_the_configuration_says_how_long() -> None:
    source = SourceProgress(ORACLE, HEARTBEAT, 0)
    source.check(offsets(5))
    assert not source.look(read)
