"""Rules about replication slots that need no server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.stores.positions.conditions import condition_from_dict, condition_to_dict
from airflow_kconnect.stores.positions.slot import Slot, SlotAddress, SlotCondition, check_slot, size_text

DATABASE = {"database.hostname": "db", "database.user": "kconnect", "database.dbname": "shop"}
SLOT = Slot("debezium", "shop", None, "", "reserved", None, 1000, 500)


def test_the_defaults_are_debeziums() -> None:
    address = SlotAddress.of(DATABASE)
    assert (address.slot, address.port, address.settings) == ("debezium", "5432", {})


def test_encryption_is_that_of_the_connector() -> None:
    address = SlotAddress.of({**DATABASE, "database.sslmode": "verify-full", "database.sslrootcert": "/ca.pem"})
    assert address.settings == {"sslmode": "verify-full", "sslrootcert": "/ca.pem"}


def test_all_missing_keys_are_named() -> None:
    with pytest.raises(ConfigError) as caught:
        SlotAddress.of({"name": "files", "file": "/data"})
    assert set(caught.value.errors) == set(DATABASE)


def test_a_password_is_in_no_repr() -> None:
    assert "s3cret" not in repr(SlotAddress.of({**DATABASE, "database.password": "s3cret"}))


@pytest.mark.parametrize("mode", ["when_needed", "always", " When_Needed "])
def test_a_missing_slot_is_not_an_error_where_a_new_snapshot_is_allowed(mode: str) -> None:
    check_slot({"snapshot.mode": mode}, None, has_offsets=True)


@pytest.mark.parametrize("config", [{}, {"snapshot.mode": "initial"}, {"snapshot.mode": "no_data"}])
def test_a_missing_slot_is_an_error_once_there_are_offsets(config: dict[str, str]) -> None:
    check_slot(config, None, has_offsets=False)
    with pytest.raises(ConfigError, match="`debezium` does not exist, but the connector has offsets"):
        check_slot(config, None, has_offsets=True)


def test_a_slot_that_no_one_reads_is_fine() -> None:
    check_slot({}, SLOT, has_offsets=True)
    assert SLOT.warning() is None


def test_facts_are_small() -> None:
    facts = {"slot": "debezium", "kept_bytes": 1000, "behind_bytes": 500, "wal_status": "reserved"}
    assert SLOT.facts() == facts
    assert replace(SLOT, active_pid=7).facts() == {**facts, "active_pid": 7}


@pytest.mark.parametrize("bounds", [{}, {"min_bytes": 1, "max_bytes": 2}, {"min_bytes": -1}])
def test_a_condition_needs_one_bound(bounds: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        SlotCondition(**bounds)


def test_a_condition_survives_being_stored() -> None:
    condition = SlotCondition(max_bytes=5)
    assert condition_from_dict(condition_to_dict(condition)) == condition


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (12_345, "12.3 kB"), (16_777_216, "16.8 MB"), (5e12, "5.0 TB")]
)
def test_sizes_are_for_people(count: int, text: str) -> None:
    assert size_text(count) == text
