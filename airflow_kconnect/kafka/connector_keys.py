"""Which keys of a connector say where it is in Kafka: its topics, its consumer group, its clients. Pure rules, no I/O.

Who asks for lag, offsets or dead letters needs these keys only: neither the others nor the values of their variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = ("name", "topics", "topics.regex", "offsets.storage.topic")
_PREFIXES = ("consumer.override.", "admin.override.")


def kafka_keys(config: Mapping[str, Any], also: tuple[str, ...] = ()) -> dict[str, Any]:
    """These keys of a configuration, sorted.

    :param also: prefixes of keys that are needed besides.
    """
    prefixes = (*_PREFIXES, *also)
    return {key: config[key] for key in sorted(config) if key in _KEYS or key.startswith(prefixes)}
