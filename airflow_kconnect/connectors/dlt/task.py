"""The task: reads its resources one after the other, each in the transactions that its state allows."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.errors import NextRunError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.dlt.failures import failure
from airflow_kconnect.connectors.dlt.loading import loaded
from airflow_kconnect.connectors.dlt.reading import Reading
from airflow_kconnect.connectors.dlt.records import Content, contents
from airflow_kconnect.connectors.dlt.settings import OF_TASK, SCHEMAS_OF_TASK, DltSettings
from airflow_kconnect.converters.json.schemas import from_json_schema


class DltSourceTask(SourceTask):
    """Source partition `{"source", "resource"}`, offset `{"state"}`: dlt's state, as JSON.

    Records that are not resume points have no offset, see `PollSourceConnector.commits_at_offsets`. The last page is
    held back until it is known whether another one follows: only then is the state that of the whole resource.
    """

    def __init__(self) -> None:
        self._name = ""
        self._records: Generator[list[SourceRecord], None, None] = (_ for _ in ())
        # What was returned last of the resource: its state, and whether records without an offset followed.
        self._state: str | None = None
        self._open = False
        self._failed = False

    def start(self, props: Mapping[str, str]) -> None:
        self._settings = DltSettings.of(props)
        self._waiting: deque[str] = deque(json.loads(props[OF_TASK]))
        self._schemas = {name: from_json_schema(each) for name, each in json.loads(props[SCHEMAS_OF_TASK]).items()}

    def stop(self) -> None:
        """Have the source close what it has opened, if a bound has ended the run."""
        self._records.close()

    def poll(self) -> Sequence[SourceRecord] | None:
        """:raises ConnectError: for any error of the source."""
        self._continue_after_failure()
        try:
            while (records := next(self._records, None)) is None:
                if not self._waiting:
                    return None
                self._name, self._state = self._waiting.popleft(), None
                self._records = self._read(self._name)
        except RetriableError as error:
            if self._open:
                raise NextRunError(str(error)) from error  # only the next run leaves out what was returned already
            self._failed = True
            raise
        offset = records[-1].source_offset
        self._open = offset is None
        self._state = self._state if offset is None else offset["state"]
        return records

    def _continue_after_failure(self) -> None:
        """`poll` may be called again after a `RetriableError`: the resource is read again from its last offset."""
        if self._failed:
            self._failed, self._records = False, self._read(self._name)

    def _read(self, name: str) -> Generator[list[SourceRecord], None, None]:
        """The records of a resource, page by page."""
        source = loaded(self._settings)
        partition = {"source": source.name, "resource": name}
        committed = self.context.offset(partition)
        start = self._state or (None if committed is None else str(committed["state"]))
        held: list[Content] = []
        state = None
        try:
            reading = Reading(source, name, start, self._settings.resume_after)
            for page in reading.pages():
                if held:
                    yield _records(partition, held, state)
                held = list(contents(reading.resource, page, self._settings.topic_prefix, self._schemas.get(name)))
                state = reading.state if page.is_resume_point else None
            state = reading.state
        except Exception as error:  # of dlt, or of the source's code
            raise failure(f"resource {name} of dlt's source {source.name}", error) from error
        if held:
            yield _records(partition, held, state)


def _records(partition: Mapping[str, Any], page: Sequence[Content], state: str | None) -> list[SourceRecord]:
    """:param state: what is the offset of the last record; None: none of them is a resume point."""
    last = len(page) - 1
    return [
        SourceRecord(
            source_partition=dict(partition),
            source_offset={"state": state} if n == last and state is not None else None,
            topic=content.topic,
            key=content.key,
            key_schema=None if content.key is None else content.key_schema,
            value=content.value,
            value_schema=content.value_schema,
        )
        for n, content in enumerate(page)
    ]
