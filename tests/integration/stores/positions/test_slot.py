"""Replication slots: what a server says about them, and what that means for the next run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.stores.positions.positions import ConnectorPositions
from airflow_kconnect.stores.positions.slot import Slot, SlotAddress, SlotCondition, check_slot, read_slot
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import debezium_config, reader_of, slot_of, write_wal
from tests.support.positions import commit_source


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> PostgresDatabase:
    return postgres.create_database()


@pytest.fixture
def slot(database: PostgresDatabase) -> Iterator[str]:
    with slot_of(database, _name()) as name:
        yield name


def _name() -> str:
    return unique("slot").replace("-", "_")


def _read(database: PostgresDatabase, slot: str) -> Slot | None:
    return read_slot(SlotAddress.of(debezium_config(database, slot)))


def _found(database: PostgresDatabase, slot: str) -> Slot:
    found = _read(database, slot)
    assert found is not None
    return found


class TestReading:
    def test_a_slot_that_does_not_exist_is_none(self, database: PostgresDatabase) -> None:
        assert _read(database, _name()) is None

    def test_it_keeps_the_wal_that_was_written_since(self, database: PostgresDatabase, slot: str) -> None:
        write_wal(database, 3)
        found = _found(database, slot)
        assert found.kept_bytes is not None and found.behind_bytes is not None
        assert 3_000_000 <= found.behind_bytes <= found.kept_bytes < 20_000_000

    def test_a_slot_that_no_one_reads_is_not_active(self, database: PostgresDatabase, slot: str) -> None:
        assert (_found(database, slot).active_pid, _found(database, slot).wal_status) == (None, "reserved")

    def test_the_client_that_reads_it_is_named(self, database: PostgresDatabase, slot: str) -> None:
        with reader_of(database, slot) as pid:
            found = _found(database, slot)
            assert (found.active_pid, found.client) == (pid, "pg_recvlogical of 127.0.0.1")
            with pytest.raises(RetriableError, match=rf"`{slot}` is in use by process {pid} .*pg_recvlogical"):
                check_slot({"slot.name": slot}, found, has_offsets=True)


class TestServers:
    def test_a_wrong_password_is_an_error_of_the_configuration(self, database: PostgresDatabase) -> None:
        address = replace(SlotAddress.of(debezium_config(database, "any")), password="wrong-secret")
        with pytest.raises(ConfigError, match=r"database\.password.*cannot log in to") as caught:
            read_slot(address)
        assert "wrong-secret" not in str(caught.value)

    def test_a_database_that_does_not_exist_is_named(self, database: PostgresDatabase) -> None:
        address = replace(SlotAddress.of(debezium_config(database, "any")), database="nowhere")
        with pytest.raises(ConfigError, match=r"database\.dbname.*nowhere"):
            read_slot(address)

    def test_an_unavailable_server_is_worth_a_retry(self, database: PostgresDatabase) -> None:
        address = replace(SlotAddress.of(debezium_config(database, "any")), port=str(free_port()))
        with pytest.raises(RetriableError, match="is unavailable"):
            read_slot(address)


class TestLimits:
    """A server that keeps at most 1 MB for a slot."""

    @pytest.fixture(scope="class")
    def limited(self) -> Iterator[PostgresDatabase]:
        settings = {"max_slot_wal_keep_size": "1MB", "max_wal_size": "1GB"}
        server = PostgresServer(settings)
        yield server.create_database()
        server.remove()

    def test_first_it_warns_then_the_slot_is_lost(self, limited: PostgresDatabase) -> None:
        with slot_of(limited, "shop"):
            write_wal(limited, 20)
            found = _found(limited, "shop")
            assert found.wal_status == "unreserved"
            assert "max_slot_wal_keep_size" in str(found.warning())

            limited.execute("checkpoint")
            found = _found(limited, "shop")
            assert (found.lost, found.kept_bytes) == (True, None)
            with pytest.raises(ConfigError, match=r"has lost WAL that was not read yet.*pg_drop_replication_slot"):
                check_slot({"slot.name": "shop"}, found, has_offsets=True)


class TestCondition:
    @pytest.fixture
    def connector(self, worker_props: dict[str, str], database: PostgresDatabase, slot: str) -> ConnectorPositions:
        return ConnectorPositions({"name": unique("shop"), **debezium_config(database, slot)}, worker_props)

    def test_enough_wal_meets_a_minimum(self, connector: ConnectorPositions, database: PostgresDatabase) -> None:
        assert not SlotCondition(min_bytes=2_000_000).look(connector).met
        write_wal(database, 2)
        finding = SlotCondition(min_bytes=2_000_000).look(connector)
        assert finding.met and finding.position["kept_bytes"] >= 2_000_000

    def test_too_much_wal_does_not_meet_a_maximum(
        self, connector: ConnectorPositions, database: PostgresDatabase
    ) -> None:
        assert SlotCondition(max_bytes=1_000_000).look(connector).met
        write_wal(database, 2)
        assert not SlotCondition(max_bytes=1_000_000).look(connector).met

    @pytest.mark.parametrize("bound", [{"min_bytes": 1000}, {"max_bytes": 1000}])
    def test_before_the_first_run_there_is_no_slot_and_nothing_to_wait_for(
        self, connector: ConnectorPositions, database: PostgresDatabase, slot: str, bound: dict[str, Any]
    ) -> None:
        database.execute("select pg_drop_replication_slot(%s)", [slot])
        finding = SlotCondition(**bound).look(connector)
        assert (finding.met, finding.position["exists"]) == (True, False)

    def test_a_slot_that_was_dropped_although_there_are_offsets_is_an_error(
        self, connector: ConnectorPositions, database: PostgresDatabase, slot: str, bootstrap: str
    ) -> None:
        commit_source(bootstrap, "connect-offsets", connector.name, {"server": "shop"}, {"lsn": 23})
        database.execute("select pg_drop_replication_slot(%s)", [slot])
        with pytest.raises(ConfigError, match=f"`{slot}` does not exist, but the connector has offsets"):
            SlotCondition(max_bytes=1000).look(connector)
