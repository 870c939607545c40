"""Target topics: looked up once, created as told, never an internal one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.runtime.settings import TopicCreation, TopicGroup
from airflow_kconnect.runtime.source.topics import TopicMaker

Settings = Mapping[str, str]


class FakeAdmin:
    """A cluster with some topics; remembers what it was asked."""

    def __init__(self, *existing: str) -> None:
        self.existing = set(existing)
        self.lookups: list[str] = []
        self.created: list[tuple[str, int, int, Settings]] = []

    def partitions(self, topic: str) -> int:
        self.lookups.append(topic)
        return int(topic in self.existing)

    def create_topic(self, topic: str, partitions: int, replication: int, settings: Settings) -> bool:
        self.created.append((topic, partitions, replication, settings))
        return True


class RefusingAdmin(FakeAdmin):
    """A cluster that creates nothing."""

    def create_topic(self, topic: str, partitions: int, replication: int, settings: Settings) -> bool:
        raise ConfigError({"topic.creation": ["replication factor: 3 larger than available brokers: 1"]})


GROUPS = TopicCreation(True, (TopicGroup(partitions=4, replication=2, settings={"cleanup.policy": "compact"}),))


def maker(admin: FakeAdmin, creation: TopicCreation = GROUPS) -> TopicMaker:
    return TopicMaker(admin, creation, frozenset({"connect-offsets"}))  # type: ignore[arg-type]


class TestUse:
    def test_a_topic_is_new_the_first_time(self) -> None:
        assert maker(FakeAdmin("t")).use("t") is True

    def test_a_topic_is_known_the_second_time(self) -> None:
        topics = maker(FakeAdmin("t"))
        topics.use("t")
        assert topics.use("t") is False

    def test_a_topic_is_looked_up_once(self) -> None:
        admin = FakeAdmin("t")
        topics = maker(admin)
        for _ in range(3):
            topics.use("t")
        assert admin.lookups == ["t"]

    def test_an_existing_topic_is_not_created(self) -> None:
        admin = FakeAdmin("t")
        maker(admin).use("t")
        assert admin.created == []

    def test_a_missing_topic_is_created_as_its_group_says(self) -> None:
        admin = FakeAdmin()
        maker(admin).use("t")
        assert admin.created == [("t", 4, 2, {"cleanup.policy": "compact"})]

    def test_without_groups_a_missing_topic_is_created_with_the_brokers_defaults(self) -> None:
        admin = FakeAdmin()
        maker(admin, TopicCreation(True)).use("t")
        assert admin.created == [("t", -1, -1, {})]

    def test_a_missing_topic_that_may_not_be_created_is_a_config_error(self) -> None:
        with pytest.raises(ConfigError, match=r"`topic\.creation\.enable`: topic t does not exist"):
            maker(FakeAdmin(), TopicCreation(False)).use("t")

    def test_a_topic_that_could_not_be_created_is_not_known(self) -> None:
        admin = RefusingAdmin()
        topics = maker(admin)
        for _ in range(2):
            with pytest.raises(ConfigError):
                topics.use("t")
        assert admin.lookups == ["t", "t"]

    @pytest.mark.parametrize("admin", [FakeAdmin("connect-offsets"), FakeAdmin()], ids=["existing", "missing"])
    def test_an_internal_topic_is_refused(self, admin: FakeAdmin) -> None:
        with pytest.raises(DataError, match="internal topic connect-offsets"):
            maker(admin).use("connect-offsets")
