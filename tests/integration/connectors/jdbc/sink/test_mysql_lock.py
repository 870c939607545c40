"""MariaDB: sessions that change tables wait for each other, and give up in the end."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connectors.jdbc.databases.mysql import writing
from airflow_kconnect.connectors.jdbc.databases.resolving import target_of
from airflow_kconnect.connectors.jdbc.sink.config import confluent_keys, settings_of
from tests.support.databases.mariadb import MariaServer


def test_a_lock_that_another_session_keeps_is_not_taken_for_ours(
    mariadb: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_CHANGES_PATIENCE_S", 1)
    target = target_of(settings_of("sink", confluent_keys().parse(mariadb.create_database().config)))
    refused = pytest.raises(RetriableError, match="another session has been changing tables")
    with target.session() as one, target.session() as other, target.changing(one), refused, target.changing(other):
        pytest.fail("two sessions change tables at once")
