"""What the command line says about runs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from airflow_kconnect.connect.connector.upkeep import Upkeep
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runs.replays import check_replay, interval_replay
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.operations import connector_name


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about a run, or about each run of a group.

    :param interval: of time, to be moved again.
    :param again: also if it was moved before.
    :param dead_letters: a sink reads its dead letters instead of its topics.
    :param upkeep: look after the sink's tables instead.
    :param keys: KEY=VALUE, in place of what the configuration has.
    """

    worker: Path | None
    bootstrap_servers: str | None
    master: str
    conf: Sequence[str]
    as_json: bool
    verbose: bool
    interval: str | None = None
    again: bool = False
    dry_run: bool = False
    dead_letters: bool = False
    upkeep: Upkeep | None = None
    keys: Sequence[str] = ()

    @property
    def own_keys(self) -> dict[str, str]:
        """The keys of `keys`. :raises typer.BadParameter: one is not KEY=VALUE."""
        return _pairs(self.keys, "--set", "topic=orders")

    @property
    def live(self) -> bool:
        """Whether the run resumes from the live offsets, and moves them."""
        others = (self.interval, self.dry_run, self.dead_letters, self.upkeep)
        return not any(others)

    @property
    def spark_conf(self) -> dict[str, str]:
        """The settings of `conf`. :raises typer.BadParameter: one is not KEY=VALUE."""
        return _pairs(self.conf, "--conf", "spark.driver.memory=4g")

    def replay_of(self, config: Mapping[str, Any]) -> Replay | None:
        """What a connector is to move again.

        :raises typer.BadParameter: the interval is none. :raises ConfigError: the connector cannot replay.
        """
        if self.interval is None:
            return None
        try:
            replay = interval_replay(connector_name(config), self.interval, again=self.again)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--replay") from None
        check_replay(config)
        return replay

    def spec_of(self, config: Mapping[str, Any], worker: Mapping[str, Any], origin: Mapping[str, str]) -> RunSpec:
        """The run of a connector, as far as it is known before its configuration has been looked at."""
        return RunSpec(
            config,
            worker,
            run_id=uuid.uuid4().hex[:12],
            replay_dead_letters=self.dead_letters,
            dry_run=self.dry_run,
            upkeep=self.upkeep,
            origin=origin,
        )


def _pairs(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE, for example {example}", param_hint=option)
        pairs[key.strip()] = value
    return pairs
