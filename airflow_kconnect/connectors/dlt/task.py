"""The task: reads its resources one after the other, each in the transactions that its state allows."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.dlt.loading import failure, loaded
from airflow_kconnect.connectors.dlt.reading import Reading
from airflow_kconnect.connectors.dlt.records import Content, contents
from airflow_kconnect.connectors.dlt.settings import OF_TASK, DltSettings


class DltSourceTask(SourceTask):
    """Source partition `{"source", "resource"}`, offset `{"state"}`: dlt's state, as JSON.

    Records that are not resume points have no offset, see `PollSourceConnector.commits_at_offsets`. The last page is
    held back until it is known whether another one follows: only then is the state that of the whole resource.
    """

    def start(self, props: Mapping[str, str]) -> None:
        self._settings = DltSettings.of(props)
        self._waiting = deque(json.loads(props[OF_TASK]))
        self._records: Iterator[list[SourceRecord]] = iter(())

    def poll(self) -> Sequence[SourceRecord] | None:
        while True:
            records = next(self._records, None)
            if records is not None:
                return records
            if not self._waiting:
                return None
            self._records = self._read(self._waiting.popleft())

    def _read(self, name: str) -> Iterator[list[SourceRecord]]:
        """The records of a resource, page by page.

        :raises ConnectError: also for any error of the source.
        """
        source = loaded(self._settings)
        partition = {"source": source.name, "resource": name}
        offset = self.context.offset(partition)
        reading = Reading(source, name, None if offset is None else str(offset["state"]), self._settings.resume_after)
        held: list[Content] = []
        state = None
        try:
            for page in reading.pages():
                if held:
                    yield _records(partition, held, state)
                held = list(contents(reading.resource, page, self._settings.topic_prefix))
                state = reading.state if page.is_resume_point else None
        except ConnectError:
            raise
        except Exception as error:  # of dlt, or of the source's code
            raise DataError(f"resource {name} of dlt's source {source.name} failed: {failure(error)}") from error
        if held:
            yield _records(partition, held, reading.state)


def _records(partition: Mapping[str, Any], page: Sequence[Content], state: str | None) -> list[SourceRecord]:
    """:param state: what is the offset of the last record; None: none of them is a resume point."""
    last = len(page) - 1
    return [
        SourceRecord(
            source_partition=dict(partition),
            source_offset={"state": state} if n == last and state is not None else None,
            topic=content.topic,
            key=content.key,
            value=content.value,
        )
        for n, content in enumerate(page)
    ]
