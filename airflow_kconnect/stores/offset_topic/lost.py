"""Whether a source has committed before what its offset topic no longer has: it would silently begin from scratch.

Whether it has run before is known from the status topic, in which runs and Connect's workers note the topics that a
connector has written to; runs note with them which offset topic they had. Nothing is known of connectors whose worker
has an empty `status.storage.topic`, or `topic.tracking.enable=false`.
"""

from __future__ import annotations

import logging

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.stores.status_topic.records import TopicStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger(__name__)


class LostOffsets:
    """Refuses to begin from scratch where the offset topic was deleted, created again or emptied since a former run.

    Resetting the connector's offsets leaves a record in the topic: that is how a user agrees to begin from scratch.

    :param name: of the source connector.
    :param admin: of the cluster that has the topic.
    :param topic: the connector's offset topic.
    """

    def __init__(self, name: str, worker: WorkerConfig, admin: KafkaAdmin, topic: str) -> None:
        self._name, self._worker, self._admin, self._topic = name, worker, admin, topic

    def check_exists(self) -> None:
        """To be called before a missing offset topic is created.

        :raises DataError: it does not exist, but the connector has run before.
        :raises RetriableError: the broker is unavailable.
        """
        if self._admin.partitions(self._topic) == 0 and (used := self._used()):
            raise self._lost("does not exist", used)

    def check_view(self, view: OffsetView) -> None:
        """To be called when the whole topic has been read. Asks nothing if there are records of the connector.

        :raises DataError: the topic has none, and is not the one of a former run, or has no records at all.
        :raises RetriableError: the broker is unavailable.
        """
        if not view.is_new or not (used := self._used()):
            return
        known = {each.offset_topic_id for each in used} - {None}
        described = self._admin.described([self._topic]).get(self._topic)
        if known and described is not None and described.id is not None:
            if described.id not in known:
                raise self._lost("was created again since then", used)
        elif not view.has_others:
            raise self._lost("has no records", used)

    def _used(self) -> list[TopicStatus]:
        """The topics that the connector is known to have written to."""
        if not self._worker.writes_statuses:
            return []
        store = StatusStore(self._worker)
        try:
            store.refresh()
            return list(store.connector(self._name).topics.values())
        except ConfigError as error:
            log.warning("whether connector %s has run before is not known: %s", self._name, error)
            return []
        finally:
            store.close()

    def _lost(self, found: str, used: list[TopicStatus]) -> DataError:
        first, *more = sorted(each.topic for each in used)
        return DataError(
            f"connector {self._name} has written to {first}{f' and {len(more)} more' if more else ''} before, but its"
            f" offsets are gone: offset topic {self._topic} {found}. Restore it, or name the right one in"
            " `offset.storage.topic` or in the connector's `offsets.storage.topic`. To move everything again from the"
            " beginning, stop the connector, reset its offsets and resume it"
        )
