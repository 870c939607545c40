"""Keeps the records of a hosted connector out of internal topics: settings of its producers for `TopicGuard.java`.

Its worker writes with rights that its author need not have: a record in the config topic would be another connector.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from airflow_kconnect.validation.topic_rules import KAFKA_TOPICS
from airflow_kconnect.worker_config.keys import WorkerConfig, internal_topics_of

_CLASS = "airflow_kconnect.TopicGuard"


def guard_keys(name: str, props: Mapping[str, str], worker: WorkerConfig, host: WorkerConfig) -> dict[str, str]:
    """Keys of the worker that hosts a connector; they must come after its others.

    Connectors cannot override them: `override_policy` refuses `internal.*`, and leaves out serializers.

    :param name: of the connector. :param props: its keys.
    :param worker: of the run. :param host: see `host_worker`.
    """
    internal = internal_topics_of(worker).names | internal_topics_of(host).names | set(KAFKA_TOPICS)
    own = json.dumps([name], ensure_ascii=False, separators=(",", ":"))[:-1] + ","
    settings = {
        "key.serializer": _CLASS,
        "internal.kconnect.topics": ",".join(sorted(internal)),
        "internal.kconnect.group": worker.group_id,
        # An offset has the key ["<name of the connector>",{<partition>}].
        "internal.kconnect.offset.topics": ",".join(sorted({worker.offset_topic, worker.offset_topic_of(props)})),
        "internal.kconnect.offset.key": own,
    }
    return {f"producer.{key}": text for key, text in settings.items()}
