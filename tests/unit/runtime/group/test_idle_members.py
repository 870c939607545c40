"""What a group's look asks of its connectors before any of them runs."""

from __future__ import annotations

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.group.idle import IdleMembers
from airflow_kconnect.runtime.group.member import Member


def test_those_that_are_not_looked_at_are_checked_too() -> None:
    checked = []

    def member_of(spec: RunSpec) -> Member:
        checked.append(spec.config["name"])
        raise ConfigError({"topic": ["is missing"]})

    IdleMembers(member_of).reports([RunSpec({"name": "live"}, {}), RunSpec({"name": "dry"}, {}, dry_run=True)])
    assert checked == ["live", "dry"]
