"""Schedules are random, and the same for the same seed."""

from __future__ import annotations

import pytest

from tests.torture.connectors import SINK_FAILPOINTS, SOURCE_FAILPOINTS
from tests.torture.faults import (
    BrokerFault,
    Kill,
    OffsetsExpire,
    Others,
    Race,
    RecordsDeleted,
    TargetRestored,
    TargetSetBack,
    TopicRecreated,
    Zombie,
    schedule,
)
from tests.torture.kinds import ALL


def test_a_seed_gives_the_same_schedule_again() -> None:
    assert schedule("7", SINK_FAILPOINTS, sink=True, nodes=1) == schedule("7", SINK_FAILPOINTS, sink=True, nodes=1)


@pytest.mark.parametrize("fault", [Kill, Zombie, Race, BrokerFault, OffsetsExpire, TopicRecreated])
def test_each_fault_happens_to_sinks(fault: type) -> None:
    steps = [step for seed in range(100) for step in schedule(str(seed), SINK_FAILPOINTS, sink=True, nodes=1)]
    assert any(isinstance(step.fault, fault) for step in steps)


@pytest.mark.parametrize("fault", [TargetRestored(), RecordsDeleted(unread=True)])
def test_extra_faults_happen_where_they_are_known(fault: TargetRestored | RecordsDeleted) -> None:
    known = [TargetRestored]
    steps = [
        step for seed in range(100) for step in schedule(str(seed), SINK_FAILPOINTS, sink=True, nodes=1, extra=known)
    ]
    assert any(step.fault == fault for step in steps)


def test_without_extra_faults_schedules_are_what_they_were() -> None:
    steps = [step for seed in range(100) for step in schedule(str(seed), SINK_FAILPOINTS, sink=True, nodes=1)]
    assert not any(isinstance(step.fault, TargetRestored | RecordsDeleted) for step in steps)


@pytest.mark.parametrize("fault", [Others, TargetSetBack])
def test_tables_are_also_disturbed_by_other_programs_and_set_back(fault: type) -> None:
    steps = [
        step
        for seed in range(100)
        for step in schedule(str(seed), SINK_FAILPOINTS, sink=True, nodes=1, others=["compaction"], set_back=True)
    ]
    assert any(isinstance(step.fault, fault) for step in steps)


def test_sources_have_no_group_whose_offsets_expire() -> None:
    steps = [step for seed in range(100) for step in schedule(str(seed), SOURCE_FAILPOINTS, sink=False, nodes=1)]
    assert not any(isinstance(step.fault, OffsetsExpire | TopicRecreated) for step in steps)


def test_every_second_fault_of_a_cluster_is_a_brokers() -> None:
    steps = [step for seed in range(200) for step in schedule(str(seed), SOURCE_FAILPOINTS, sink=False, nodes=3)]
    share = sum(isinstance(step.fault, BrokerFault) for step in steps) / len(steps)
    assert 0.4 < share < 0.7


def test_every_kind_of_connector_is_there() -> None:
    assert {kind.kind for kind in ALL.values() if kind.sink} == {
        "file sink", "directory sink", "directory sink on S3", "directory sink on Azure", "directory sink on Google",
        "directory sink on HDFS", "Confluent sink on S3", "Confluent sink on Azure", "Confluent sink on Google",
        "JDBC sink, PostgreSQL", "JDBC sink, SQLite", "Python sink", "hosted file sink",
        "table sink, Iceberg", "table sink, Iceberg by key", "table sink, Delta", "table sink, Delta by key",
    }  # fmt: skip
