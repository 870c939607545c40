"""A config topic written and read by us, as Connect's leader would write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import eventually, produce, read_all

Stores = Callable[..., ConfigStore]

CONFIG = {"connector.class": "FileStreamSource", "name": "c"}


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker group whose config topic does not exist."""
    return _worker(bootstrap, unique("configs"))


def _worker(bootstrap: str, topic: str, **keys: str) -> WorkerConfig:
    props = {"bootstrap.servers": bootstrap, "group.id": unique("group"), "config.storage.topic": topic}
    return WorkerConfig.from_props({**props, **keys})


@pytest.fixture
def store() -> Iterator[Stores]:
    """Makes stores, which are closed when the test ends."""
    opened: list[ConfigStore] = []

    def open_one(*args: object, **kwargs: object) -> ConfigStore:
        opened.append(ConfigStore(*args, **kwargs))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def _records(bootstrap: str, worker: WorkerConfig) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for record in read_all(bootstrap, worker.config_topic)]


class TestWriting:
    def test_the_bytes_and_their_order_are_connects(self, store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
        with store(worker).writing() as writer:
            writer.put_connector("c", {"name": "c"}, TargetState.STOPPED)
            writer.remove_connector("c")
        assert _records(bootstrap, worker) == [
            (b"target-state-c", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
            (b"connector-c", b'{"properties":{"name":"c"}}'),
            (b"connector-c", None),
            (b"target-state-c", None),
        ]

    @pytest.mark.parametrize("follow", [True, False])
    def test_what_was_written_is_read(self, store: Stores, worker: WorkerConfig, follow: bool) -> None:
        mine = store(worker, follow=follow)
        with mine.writing() as writer:
            assert writer.put_connector("c", CONFIG).connectors["c"].config == CONFIG
        seen = mine.put_target_states(["c"], TargetState.PAUSED)
        assert seen.connectors["c"].target_state is TargetState.PAUSED

    def test_levels_of_loggers(self, store: Stores, worker: WorkerConfig) -> None:
        levels: list[tuple[str, str]] = []
        mine = store(worker, on_logger=lambda logger, level, at: levels.append((logger, level)))
        mine.put_logger_level("org.x", "DEBUG")
        assert levels == [("org.x", "DEBUG")]

    def test_without_exactly_once_no_one_fences(self, store: Stores, bootstrap: str) -> None:
        worker = _worker(bootstrap, unique("configs"), **{"exactly.once.source.support": "disabled"})
        with store(worker).writing() as first, store(worker).writing() as second:
            second.put_connector("a", {"name": "a"})
            assert set(first.put_connector("b", {"name": "b"}).connectors) == {"a", "b"}


class TestSingleWriter:
    def test_a_newer_writer_fences_the_older(self, store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
        with store(worker).writing() as older:
            older.put_connector("c", CONFIG)
            with store(worker).writing() as newer:
                newer.put_connector("d", CONFIG | {"name": "d"})
            with pytest.raises(FencedError):
                older.put_connector("c", CONFIG | {"late": "yes"})
        assert [key for key, _ in _records(bootstrap, worker)] == [b"connector-c", b"connector-d"]

    def test_it_sees_what_the_older_one_wrote(self, store: Stores, worker: WorkerConfig) -> None:
        with store(worker).writing() as older:
            older.put_connector("c", CONFIG)
        newer = store(worker)
        with newer.writing():
            assert set(newer.snapshot().connectors) == {"c"}

    def test_it_can_write_again_after_it_was_fenced(self, store: Stores, worker: WorkerConfig) -> None:
        mine = store(worker)
        with mine.writing() as writer:
            with store(worker).writing():
                pass
            with pytest.raises(FencedError):
                writer.put_connector("c", CONFIG)
        with mine.writing() as writer:
            assert set(writer.put_connector("c", CONFIG).connectors) == {"c"}


class TestRefusals:
    def test_values_that_are_not_texts(self, store: Stores, worker: WorkerConfig) -> None:
        with store(worker).writing() as writer, pytest.raises(ConfigError) as caught:
            writer.put_connector("c", {"name": "c", "tasks.max": 1, "x": ["y"]})
        assert set(caught.value.errors) == {"tasks.max", "x"}

    def test_another_name_in_the_configuration(self, store: Stores, worker: WorkerConfig) -> None:
        with store(worker).writing() as writer, pytest.raises(ConfigError, match="both must be the same"):
            writer.put_connector("d", CONFIG)

    def test_a_record_that_is_too_large_and_the_next_one_passes(self, store: Stores, worker: WorkerConfig) -> None:
        with store(worker).writing() as writer:
            with pytest.raises(DataError):
                writer.put_connector("c", {"name": "c", "large": "x" * 2_000_000})
            assert set(writer.put_connector("d", {"name": "d"}).connectors) == {"d"}

    def test_a_topic_with_several_partitions(self, store: Stores, bootstrap: str, topic: Callable[..., str]) -> None:
        with pytest.raises(ConfigError, match="required to have a single partition"):
            store(_worker(bootstrap, topic(partitions=2))).refresh()

    def test_a_topic_that_is_not_compacted(self, store: Stores, bootstrap: str, topic: Callable[..., str]) -> None:
        with (
            pytest.raises(ConfigError, match=r"cleanup.policy=delete"),
            store(_worker(bootstrap, topic())).writing(),
        ):
            pass


class TestReading:
    def test_asking_makes_no_topic(self, store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
        assert not store(worker).refresh().connectors
        assert KafkaAdmin({"bootstrap.servers": bootstrap}).partitions(worker.config_topic) == 0

    def test_the_topic_is_made_as_connect_makes_it(self, store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
        store(worker).put_target_states(["c"], TargetState.PAUSED)
        admin = KafkaAdmin({"bootstrap.servers": bootstrap})
        found = admin.partitions(worker.config_topic), admin.setting(worker.config_topic, "cleanup.policy")
        assert found == (1, "compact")

    def test_what_others_write_arrives_by_itself(self, store: Stores, worker: WorkerConfig) -> None:
        mine = store(worker, follow=True)
        mine.refresh()
        with store(worker).writing() as writer:
            writer.put_connector("c", CONFIG)
        assert eventually(lambda: set(mine.snapshot().connectors), {"c"}) == {"c"}
        assert mine.health is not None
        assert mine.health.reading

    def test_garbage_of_others_is_skipped(self, store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
        mine = store(worker)
        with mine.writing() as writer:
            writer.put_connector("c", CONFIG)
        produce(bootstrap, worker.config_topic, ["no JSON", None], key="connector-d")
        produce(bootstrap, worker.config_topic, ["no JSON"], key="connector-c")
        assert mine.refresh().connectors["c"].config == CONFIG
