"""Positions of a sink on a command line: ``orders:0=20,1=30`` for each topic."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition

_TEXT = re.compile(r"([\w.-]+):(\d+=\d+(?:,\d+=\d+)*)")


def positions_texts(positions: Mapping[TopicPartition, int]) -> list[str]:
    """One for each topic."""
    return [
        f"{topic}:{','.join(f'{tp.partition}={positions[tp]}' for tp in topic_partitions)}"
        for topic, topic_partitions in groupby(sorted(positions), key=lambda tp: tp.topic)
    ]


def positions_of(texts: Iterable[str]) -> dict[TopicPartition, int]:
    """What `positions_texts` has written. :raises ConfigError: one of them is something else, or named twice."""
    positions: dict[TopicPartition, int] = {}
    for text in texts:
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ConfigError({"at": [f"{text!r} is not of the form TOPIC:PARTITION=OFFSET,PARTITION=OFFSET"]})
        for pair in match[2].split(","):
            partition, _, offset = pair.partition("=")
            topic_partition = TopicPartition(match[1], int(partition))
            if topic_partition in positions:
                raise ConfigError({"at": [f"{topic_partition} is named twice"]})
            positions[topic_partition] = int(offset)
    return positions


def positions_request(positions: Mapping[TopicPartition, int]) -> dict[str, Any]:
    """The request of Connect's REST API that sets them."""
    return {
        "offsets": [
            {
                "partition": {"kafka_topic": tp.topic, "kafka_partition": tp.partition},
                "offset": {"kafka_offset": offset},
            }
            for tp, offset in positions.items()
        ]
    }


def resume_command(connector: str, positions: Mapping[TopicPartition, int]) -> str:
    """The command line after which a sink resumes at these positions; where there are none, at the beginning."""
    name = shlex.quote(connector)
    at = "".join(f" --at {text}" for text in positions_texts(positions))
    change = f"offsets alter {name}{at}" if positions else f"offsets reset {name}"
    return f"kconnect stop {name} && kconnect {change} && kconnect resume {name}"
