"""Tables that no longer have what a sink has written, in whole runs."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.positions_text import positions_of, positions_request
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.stores.offset_topic.records import sink_plan_key
from airflow_kconnect.stores.sink_plans import plans_of_all
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.support.positions import commit


def test_a_table_that_was_dropped_is_not_created_again_with_a_gap(run_here: Run, tables: Lake) -> None:
    """Nor is one written that was created again. A table that is not written any more may be dropped."""
    one, other = tables.topic(record(id=1)), tables.topic(record(id=2))
    config = tables.config(one, other)
    run_here(config)
    tables.spark.sql(f"DROP TABLE {tables.namespace}.{other}")
    tables.add(one, record(id=3))
    assert run_here({**config, "topics": one}).records["written"] == 1
    tables.add(other, record(id=4))
    with pytest.raises(DataError, match=r"it is not there, and it took plan 1: it was restored, replaced or created"):
        run_here(config)
    tables.spark.sql(f"CREATE TABLE {tables.namespace}.{other} (id BIGINT) USING iceberg")
    with pytest.raises(DataError, match="it has no plan of this connector, and it took plan 1"):
        run_here(config)


def test_the_error_has_the_command_after_which_what_was_lost_is_written_again(
    run_here: Run, tables: Lake, worker_props: dict[str, str]
) -> None:
    topic = tables.topic(record(id=1))
    config = tables.config(topic)
    run_here(config)
    table = f"{tables.namespace}.{topic}"
    (first,) = tables.spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()
    for n in (2, 3):
        tables.add(topic, record(id=n))
        run_here(config)
    tables.spark.sql(f"CALL lake.system.rollback_to_snapshot('{table}', {first.snapshot_id})")
    tables.add(topic, record(id=4))
    with pytest.raises(DataError, match=r"plan 1 is the last that it has, and it took plan 3") as error:
        run_here(config)
    name = config["name"]
    command = f"kconnect stop {name} && kconnect offsets alter {name} --at {topic}:0=1 && kconnect resume {name}"
    assert f"`{command}` has what is missing written again" in str(error.value)
    alter(config, worker_props, command)
    assert run_here(config).records["written"] == 3
    assert tables.rows(topic, "id") == [(n,) for n in range(1, 5)]


def test_plans_that_kafka_has_lost_are_not_written_again_before_the_user_says_so(
    run_here: Run, tables: Lake, worker_props: dict[str, str], bootstrap: str
) -> None:
    topic = tables.topic(record(id=1))
    config = tables.config(topic)
    run_here(config)
    group = f"connect-{config['name']}"
    produce_bytes(bootstrap, WorkerConfig.from_props(worker_props).offset_topic, sink_plan_key(group), None)
    commit(bootstrap, group, {(topic, 0): 0})  # as the backup of it had them
    for _ in range(2):
        with pytest.raises(DataError, match=r"it has plans of a connector with this name .*, and Kafka knows none"):
            run_here(config)
    assert tables.rows(topic, "id") == [(1,)]
    alter(config, worker_props, f"--at {topic}:0=1")
    tables.add(topic, record(id=2))
    run_here(config)
    assert tables.rows(topic, "id") == [(1,), (2,)]


def test_plans_after_those_that_kafka_knows_are_not_taken_for_the_next_ones(
    run_here: Run, tables: Lake, worker_props: dict[str, str], bootstrap: str
) -> None:
    one, other = tables.topic(record(id=1)), tables.topic()
    config = tables.config(one, other)
    run_here(config)
    group = f"connect-{config['name']}"
    before = plan_record(worker_props, group)
    tables.add(other, record(id=1))
    run_here(config)  # of this table the backup knows nothing
    produce_bytes(bootstrap, WorkerConfig.from_props(worker_props).offset_topic, sink_plan_key(group), before)
    tables.add(other, record(id=2))
    for _ in range(3):  # however many are begun
        with pytest.raises(DataError, match="has plan 2 of this connector, and plan 1 is the last that Kafka knows"):
            run_here(config)
    alter(config, worker_props, f"--at {other}:0=1")
    run_here(config)
    assert tables.rows(other, "id") == [(1,), (2,)]


def alter(config: dict[str, str], worker_props: dict[str, str], command: str) -> None:
    """What the command does to the offsets."""
    worker = WorkerConfig.from_props(worker_props)
    at = command.partition("--at ")[2].split()[0]
    SinkOffsets(validate_connector(config, worker=worker), worker).alter(positions_request(positions_of([at])))


def plan_record(worker_props: dict[str, str], group: str) -> bytes:
    clients = ClientConfigs(worker_props)
    known = plans_of_all(clients, GroupAdmin(clients.admin()), WorkerConfig.from_props(worker_props).offset_topic)
    return next(plan.state for plan in known if plan.group == group).encode()


def produce_bytes(bootstrap: str, topic: str, key: bytes, value: bytes | None) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "partitioner": "murmur2_random"})
    producer.produce(topic, value, key)
    assert producer.flush(30) == 0
