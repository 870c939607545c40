"""Rules about binary logs that need no server."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.positions.binlog import CLASSES, Binlog, BinlogAddress, BinlogPosition, read_binlog

DATABASE = {"database.hostname": "db", "database.user": "kconnect", "database.password": "s3cret"}


def at(file: object, position: object) -> BinlogPosition:
    found = BinlogPosition.of(file, position)
    assert found is not None
    return found


def test_positions_are_ordered_by_the_number_of_the_file() -> None:
    positions = [at("binlog.999999", 4), at("binlog.999999", 900), at("binlog.1000000", 4)]
    assert sorted(reversed(positions)) == positions


@pytest.mark.parametrize(("file", "position"), [(None, 4), ("", 4), ("binlog", 4), ("binlog.000001", None)])
def test_what_is_no_position_is_none(file: Any, position: Any) -> None:
    assert BinlogPosition.of(file, position) is None


@pytest.mark.parametrize("name", CLASSES)
def test_the_defaults_are_debeziums(name: str) -> None:
    address = BinlogAddress.of(name, DATABASE)
    assert address is not None
    assert (address.server, address.ssl_mode) == ("db:3306", "")
    assert "s3cret" not in repr(address)


def test_other_connectors_read_no_binary_log() -> None:
    assert BinlogAddress.of("io.debezium.connector.postgresql.PostgresConnector", DATABASE) is None
    assert BinlogAddress.of(CLASSES[0], {"database.hostname": "db"}) is None


def test_a_certificate_that_only_java_can_verify_is_not_skipped() -> None:
    address = BinlogAddress.of(CLASSES[0], {**DATABASE, "database.ssl.mode": "VERIFY_CA"})
    assert address is not None
    with pytest.raises(ConfigError, match="which only Debezium itself can read"):
        read_binlog(address)


def test_facts_are_small() -> None:
    facts = {"file": "binlog.000001", "position": 4, "kept_bytes": 9}
    assert Binlog(at("binlog.000001", 4), 9, None).facts() == facts
    assert Binlog(None, 0, 60).facts() == {"kept_bytes": 0, "expire_s": 60}
