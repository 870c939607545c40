"""Ranges of offsets for the consumers of a hosted sink: handed to the JVM, and which keys of a worker apply them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.hosted.jvm.gateway import HostGateway

CLASS = "airflow_kconnect.OffsetFilter"
"""The interceptor."""

_INTERCEPTORS = "interceptor.classes"
_OVERRIDE = "consumer.override."


def connector_keys(props: Mapping[str, str]) -> dict[str, str]:
    """A sink's configuration for a replay: its consumers have the worker's group, and the filter first.

    :param props: as Connect gets them.
    """
    kept = {key: text for key, text in props.items() if key != f"{_OVERRIDE}group.id"}
    key = f"{_OVERRIDE}{_INTERCEPTORS}"
    return kept | ({key: _first(kept[key])} if key in kept else {})


def worker_keys(worker: Mapping[str, str], group: str) -> dict[str, str]:
    """What the worker of a replay needs besides its other keys. No policy about overrides applies to them.

    :param worker: its other keys.
    :param group: of the replay.
    """
    key = f"consumer.{_INTERCEPTORS}"
    return {"consumer.group.id": group, key: _first(worker.get(key, ""))}


def allow(jvm: HostGateway, ranges: Iterable[tuple[TopicPartition, int, int]]) -> None:
    """Let consumers see these offsets; without this none.

    :param ranges: partition, first offset, and the one after the last.
    """
    text = "\n".join(f"{place.topic}\t{place.partition}\t{start}\t{end}" for place, start, end in ranges)
    jvm.call("handing over the ranges of the replay", lambda: jvm.view.airflow_kconnect.OffsetFilter.allow(text))


def first_given(jvm: HostGateway) -> dict[TopicPartition, int]:
    """The first offset of each partition of which tasks were given records."""
    text = str(jvm.call("asking for the records given", jvm.view.airflow_kconnect.OffsetFilter.first))
    lines = (line.split("\t") for line in text.splitlines())
    return {TopicPartition(topic, int(partition)): int(offset) for topic, partition, offset in lines}


def _first(interceptors: str) -> str:
    others = [name.strip() for name in interceptors.split(",") if name.strip()]
    return ",".join([CLASS, *others])
