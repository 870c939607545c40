"""A source whose offset topic was deleted, created again or emptied does not silently move everything again."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.stores.status_topic.records import TopicKey, TopicStatus
from airflow_kconnect.submit.operations import STARTED, STOPPED, alter_offsets, reset_offsets, set_target_state
from tests.integration.runtime.conftest import NumberedFile, Run, Source
from tests.support import unique
from tests.support.kafka import create_topic, delete_topic, produce, read_values


@pytest.fixture
def topics() -> dict[str, str]:
    """Worker keys: an offset and a status topic that do not exist."""
    return {f"{store}.storage.topic": unique(store) for store in ("offset", "status")}


@pytest.fixture
def moved(run_here: Run, file_source: Source, numbered: NumberedFile, topics: dict[str, str]) -> dict[str, str]:
    """The configuration of a source that has moved three lines; a fourth has followed since."""
    config = file_source()
    numbered.append(3)
    assert run_here(config, **topics).records["written"] == 3
    numbered.append(1)
    return config


def exists(bootstrap: str, topic: str) -> bool:
    return topic in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics


def create_again(bootstrap: str, topic: str) -> None:
    delete_topic(bootstrap, topic)
    create_topic(bootstrap, topic, 3, {"cleanup.policy": "compact"})


def test_a_missing_topic_is_not_created_until_the_offsets_are_reset(
    run_here: Run,
    bootstrap: str,
    numbered: NumberedFile,
    moved: dict[str, str],
    topics: dict[str, str],
    worker_props: dict[str, str],
) -> None:
    delete_topic(bootstrap, topics["offset.storage.topic"])
    error = rf"has written to {moved['topic']} before, but .* {topics['offset.storage.topic']} does not exist"
    for dry_run in (True, False, False):
        with pytest.raises(DataError, match=error):
            run_here(moved, dry_run=dry_run, **topics)
    assert read_values(bootstrap, moved["topic"]) == numbered.expected()[:3]
    assert not exists(bootstrap, topics["offset.storage.topic"])
    worker = {**worker_props, **topics}
    set_target_state(moved["name"], STOPPED, worker)
    reset_offsets(moved, worker)
    set_target_state(moved["name"], STARTED, worker)
    assert run_here(moved, **topics).records["written"] == 4
    numbered.append(1)
    assert run_here(moved, **topics).records["written"] == 1


def test_a_topic_that_was_created_again_is_noticed_also_when_others_have_written_to_it(
    run_here: Run,
    bootstrap: str,
    numbered: NumberedFile,
    file_source: Source,
    moved: dict[str, str],
    topics: dict[str, str],
    worker_props: dict[str, str],
) -> None:
    create_again(bootstrap, topics["offset.storage.topic"])
    assert run_here(file_source(), **topics).records["written"] == 4
    for dry_run in (True, False, False):
        with pytest.raises(DataError, match="was created again since then"):
            run_here(moved, dry_run=dry_run, **topics)
    worker = {**worker_props, **topics}
    set_target_state(moved["name"], STOPPED, worker)
    position = len("line-0\nline-1\nline-2\n")
    alter_offsets(moved, worker, [{"partition": {"filename": moved["file"]}, "offset": {"position": position}}])
    set_target_state(moved["name"], STARTED, worker)
    run_here(moved, **topics)
    assert read_values(bootstrap, moved["topic"]) == numbered.expected()


def test_an_empty_topic_is_noticed_also_if_the_connector_ran_in_connect(
    run_here: Run, bootstrap: str, numbered: NumberedFile, file_source: Source, topics: dict[str, str]
) -> None:
    config = file_source()
    used = TopicStatus(config["topic"], config["name"], 0, 1)
    key = TopicKey(config["name"], config["topic"]).encode()
    create_topic(bootstrap, topics["status.storage.topic"], 1, {"cleanup.policy": "compact"})
    produce(bootstrap, topics["status.storage.topic"], [used.encode()], key=key)
    create_topic(bootstrap, topics["offset.storage.topic"], 3, {"cleanup.policy": "compact"})
    numbered.append(1)
    for _ in range(2):
        with pytest.raises(DataError, match="has no records"):
            run_here(config, **topics)


def test_a_source_that_has_moved_nothing_yet_begins(
    run_here: Run, bootstrap: str, numbered: NumberedFile, file_source: Source, topics: dict[str, str]
) -> None:
    config = file_source()
    assert run_here(config, **topics).records["written"] == 0
    create_again(bootstrap, topics["offset.storage.topic"])
    numbered.append(1)
    assert run_here(config, **topics).records["written"] == 1
