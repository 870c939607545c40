"""A sink for OpenSearch and Elasticsearch: a document for each key, deleted by a tombstone. An example of a sink.

`kconnect run --plugin opensearch_sink.py opensearch-orders.json`. It needs no client but the SDK's for HTTP.

Each document has the record's offset as its version: the index itself refuses what is older than what it has. So
records can come again, after a kill or in a replay of an interval, and no document goes back in time. The index
remembers the version of a deleted document for a minute only (`index.gc_deletes`): a replay of an interval in which a
document was deleted must have its tombstone, too.

A topic that was deleted and created again has small offsets, and so may have a partition that was added and gets keys
of others. An index that remembers larger ones refuses such records, of which the log warns: delete the index first, or
rename the topic by the transformation RegexRouter.
"""

from __future__ import annotations

import base64
import datetime
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from airflow_kconnect.sdk import (
    ConfigDef,
    DataError,
    Importance,
    PollSinkConnector,
    RefusedError,
    RetriableError,
    SinkRecord,
    SinkTask,
    TopicPartition,
    Type,
    http_client,
)

URL, USER, PASSWORD = "connection.url", "connection.username", "connection.password"
REQUEST_BYTES = 5 << 20
ID_MAX_BYTES = 512
BAD_REQUEST, CONFLICT = 400, 409

log = logging.getLogger("kconnect.sink")


class OpenSearchSinkConnector(PollSinkConnector):
    """An index for each topic, with its name in lower case. Its keys have the names of Confluent's and Aiven's."""

    summary = "Writes a document of OpenSearch or Elasticsearch for each key."

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define(URL, Type.STRING, importance=Importance.HIGH, documentation="http://host:9200")
            .define(USER, Type.STRING, None, Importance.MEDIUM, "The user; none: there is no login.")
            .define(PASSWORD, Type.PASSWORD, None, Importance.MEDIUM, "The user's password.")
        )

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """Writing records again does no harm, since documents have versions."""
        return None

    def task_class(self) -> Callable[[], SinkTask]:
        return OpenSearchSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]


class OpenSearchSinkTask(SinkTask):
    """Each `put` has written what it was given when it returns, so there is nothing to flush."""

    def start(self, props: Mapping[str, str]) -> None:
        values = OpenSearchSinkConnector.config().parse(props)
        login = (values[USER], values[PASSWORD].value if values[PASSWORD] else "") if values[USER] else None
        self._client = http_client(base_url=values[URL], auth=login, timeout=60, resends=True)

    def put(self, records: Sequence[SinkRecord]) -> None:
        for batch in self._batches(records):
            answer = self._client.post(
                "/_bulk",
                content=b"".join(line for _, line in batch),
                headers={"Content-Type": "application/x-ndjson"},
            ).json()
            judged = [(each, *item.values()) for (each, _), item in zip(batch, answer["items"], strict=True)]
            if old := [each for each, result in judged if self._is_old(each, result)]:
                place = f"{old[0].read_topic}-{old[0].partition}@{old[0].kafka_offset}"
                log.warning("%s records from %s on were left out: the index has them, or newer ones", len(old), place)

    def _batches(self, records: Sequence[SinkRecord]) -> Iterator[list[tuple[SinkRecord, bytes]]]:
        """Records with their lines, in requests of some megabytes."""
        batch: list[tuple[SinkRecord, bytes]] = []
        size = 0
        for record in records:
            try:
                lines = lines_of(record)
            except DataError as error:
                self.context.report(record, error)
                continue
            if batch and size + len(lines) > REQUEST_BYTES:
                yield batch
                batch, size = [], 0
            batch.append((record, lines))
            size += len(lines)
        if batch:
            yield batch

    def _is_old(self, record: SinkRecord, result: Mapping[str, Any]) -> bool:
        """Whether there was a conflict: the index has this record, or a newer one. What it refuses is reported.

        :raises RetriableError: the index is busy, read-only or missing; all records are put again later.
        """
        status, problem = result["status"], result.get("error")
        if problem is None or status == CONFLICT:
            return problem is not None
        text = f"{status} {problem['type']}: {problem['reason']}"
        if status != BAD_REQUEST:
            raise RetriableError(f"index {result.get('_index')} cannot be written: {text}")
        self.context.report(record, RefusedError(text))
        return False

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is left to write."""

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()


def lines_of(record: SinkRecord) -> bytes:
    """A record as lines of a bulk request. :raises DataError: it cannot be a document."""
    place = f"{record.read_topic}-{record.partition}-{record.kafka_offset}"
    id_ = place if record.key is None else key_text(record.key)
    if not 0 < len(id_.encode(errors="replace")) <= ID_MAX_BYTES:  # the index would refuse the whole request
        raise DataError(f"its key is the document's id, which has 1 to {ID_MAX_BYTES} bytes")
    about = {
        "_index": record.topic.lower(),
        "_id": id_,
        "version": record.kafka_offset,
        "version_type": "external",
    }
    if record.value is None:
        if record.key is None:
            raise DataError("a tombstone without a key says of nothing that it is deleted")
        return b"%s\n" % json.dumps({"delete": about}).encode()
    if not isinstance(record.value, dict):
        raise DataError(f"a document is an object, and the value is of type {type(record.value).__name__}")
    try:
        document = json.dumps(record.value, default=json_value, allow_nan=False)
    except (TypeError, ValueError) as error:  # a map whose keys are not texts; numbers that are none
        raise DataError(f"cannot be written as JSON: {error}") from error
    return b"%s\n%s\n" % (json.dumps({"index": about}).encode(), document.encode())


def key_text(key: Any) -> str:
    """A key as the id of a document."""
    return key if isinstance(key, str) else json.dumps(key, sort_keys=True, default=json_value)


def json_value(value: Any) -> str:
    """A value of which JSON has no type, as a text that the index recognises."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
