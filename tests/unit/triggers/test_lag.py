"""The trigger of asset watchers: what it takes, and when it fires."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, Asset, AssetWatcher
from airflow.triggers.base import BaseEventTrigger

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.triggers.lag import ConnectorLagTrigger, Crossings
from tests.support.airflow.versions import needs_airflow_3_2

SINK = {"name": "orders", "config": {"topics": "orders", "connector.class": "C", "connection.password": "db-secret-1"}}


def _trigger(**parameters: Any) -> ConnectorLagTrigger:
    defaults: dict[str, Any] = {"connector": SINK, "min_records": 5}
    return ConnectorLagTrigger(**defaults | parameters)


class TestCrossings:
    @pytest.mark.parametrize(
        ("looks", "events"),
        [
            pytest.param([(False, 0, 0)], [False], id="not far enough"),
            pytest.param([(True, 0, 0), (True, 0, 60)], [True, False], id="one event for one crossing"),
            pytest.param(
                [(True, 0, 0), (False, 9, 60), (True, 9, 120)], [True, False, True], id="caught up and behind"
            ),
            pytest.param([(True, 0, 0), (True, 3, 60)], [True, True], id="offsets have moved, and still behind"),
            pytest.param([(True, 0, 0), (True, 0, 99), (True, 0, 100)], [True, False, True], id="nothing has happened"),
            pytest.param(
                [(True, 0, 0), (True, 0, 100), (True, 0, 199)], [True, True, False], id="patience starts again"
            ),
        ],
    )
    def test_looks_become_events(self, looks: list[tuple[bool, int, int]], events: list[bool]) -> None:
        crossings = Crossings(repeat_seconds=100)

        assert [crossings.fires(met, {"orders-0": offset}, now_s) for met, offset, now_s in looks] == events


class TestParameters:
    def test_round_trip(self) -> None:
        _, kwargs = _trigger(min_seconds=30, topic="orders", poke_interval=5, repeat_seconds=60).serialize()

        assert ConnectorLagTrigger(**json.loads(json.dumps(kwargs))).serialize()[1] == kwargs

    def test_airflow_tells_equal_triggers_by_their_hash(self) -> None:
        path, kwargs = _trigger().serialize()
        again = ConnectorLagTrigger(**kwargs).serialize()

        assert BaseEventTrigger.hash(path, kwargs) == BaseEventTrigger.hash(*again)

    def test_the_connectors_own_keys_are_not_stored(self) -> None:
        assert "db-secret-1" not in json.dumps(_trigger().serialize())

    def test_a_secret_is_refused_when_the_dag_is_parsed(self) -> None:
        with pytest.raises(ConfigError, match=r"`sasl\.password`: is a secret"):
            _trigger(worker_config={"sasl.password": "literal-1"})

    def test_a_source_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="only sinks have a lag"):
            _trigger(connector={"name": "lines", "file": "/in"})

    def test_a_connector_without_a_name_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="`name`: is missing"):
            _trigger(connector={"topics": "orders"})

    def test_a_relative_path_is_refused_with_the_cure(self) -> None:
        with pytest.raises(ConfigError, match=r"Path\(__file__\)"):
            _trigger(connector="orders.json")

    def test_a_file_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(SINK))

        assert _trigger(connector=file).serialize() == _trigger().serialize()


@needs_airflow_3_2  # for the name of the class
def test_a_dag_can_be_scheduled_by_it() -> None:
    asset = Asset("orders-behind", watchers=[AssetWatcher(name="orders-lag", trigger=_trigger())])
    with DAG("write_orders", schedule=[asset]) as dag:
        pass

    from airflow.serialization.serialized_objects import DagSerialization

    stored = json.dumps(DagSerialization.to_dict(dag))
    assert "airflow_kconnect.triggers.lag.ConnectorLagTrigger" in stored
