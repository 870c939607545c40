"""What a run has moved, for lineage: datasets and how many rows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.plugins.registry import CONNECTORS, registry

DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"


@dataclass(frozen=True)
class Moved:
    """A dataset and how many rows a run moved out of it or into it; None if not known."""

    dataset: Dataset
    rows: int | None = None


def distinct(moved: Iterable[Moved]) -> list[Moved]:
    """Each dataset once; of one that several connectors move, how many rows it was is not known."""
    found: dict[Dataset, Moved] = {}
    for each in moved:
        found[each.dataset] = Moved(each.dataset) if each.dataset in found else each
    return list(found.values())


def moved_by(
    config: Mapping[str, Any], kind: str, servers: str, report: Mapping[str, Any] | None
) -> tuple[list[Moved], list[Moved]]:
    """What a run reads and what it writes."""
    props = {key: str(value) for key, value in config.items()}
    outside = _known(_datasets(props, report))
    cluster = kafka_namespace(servers)
    topics = _known(Dataset(cluster, topic) for topic in _topics(props, kind, report))
    read, written = (outside, topics) if kind == "source" else (topics, outside)
    records = report["records"] if report else {}
    outputs = _counted(written, records.get("written"))
    if records.get("dead_lettered") and (dead_letters := props.get(DEAD_LETTER_TOPIC)):
        outputs.append(Moved(Dataset(cluster, dead_letters), records["dead_lettered"]))
    return _counted(read, records.get("read")), outputs


def _datasets(props: Mapping[str, str], report: Mapping[str, Any] | None) -> Sequence[Dataset]:
    """What the connector reads or writes outside of Kafka; of a hosted Java connector this is not known."""
    name = props["connector.class"]
    return registry().connector(name).datasets(props, report) if registry().knows(CONNECTORS, name) else ()


def kafka_namespace(servers: str) -> str:
    """``kafka://host:port`` of the first bootstrap server."""
    first = servers.split(",")[0].strip().rpartition("://")[2]
    return f"kafka://{first}" if first.rpartition(":")[2].isdigit() else f"kafka://{first}:9092"


def _topics(props: Mapping[str, str], kind: str, report: Mapping[str, Any] | None) -> list[str]:
    if report and report["topics"]:
        return list(report["topics"])
    if kind == "sink":
        return named_topics(props)
    return [props["topic"]] if props.get("topic") else []


def _known(datasets: Iterable[Dataset]) -> list[Dataset]:
    """Those whose names do not depend on a variable that is resolved in the job."""
    return [dataset for dataset in datasets if "${" not in f"{dataset.namespace}{dataset.name}"]


def _counted(datasets: Iterable[Dataset], rows: int | None) -> list[Moved]:
    """A run counts its rows in total, not per dataset: for several datasets the individual counts are not known."""
    distinct = sorted(set(datasets))
    return [Moved(dataset, rows if len(distinct) == 1 else None) for dataset in distinct]
