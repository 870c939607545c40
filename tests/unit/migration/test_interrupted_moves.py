"""Moves that fail anywhere, in any order: the next call continues, and no record is lost or doubled."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.migration.arrival import Arrival
from airflow_kconnect.migration.departure import Departure
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.stores.handovers import Handover
from tests.support.connect.two_sides import ClusterInMemory, HereInMemory, World, candidate

# No command makes more calls than this, so some of them do not fail.
_MOST_CALLS = 30

commands = st.tuples(st.sampled_from(["here", "back"]), st.integers(1, _MOST_CALLS), st.booleans())


def command(world: World, which: str, fail_at: int | None = None, *, before: bool = True) -> list[str]:
    """Type a command; the call `fail_at` of those it makes fails."""
    assert world.folder is not None
    world.calls, world.fail_at, world.before = 0, fail_at, before
    steps: list[str] = []
    sides = (ClusterInMemory(world), HereInMemory(world), steps.append)
    if which == "here":
        Arrival(candidate(world), world.folder, *sides).run()
    else:
        Departure(candidate(world), *sides).run()
    return steps


def world_in(folder: str | Path, *, one_topic: bool = False) -> World:
    """A connector that has run in Connect."""
    world = World(folder=ConnectorFolder(Path(folder)))
    if one_topic:
        world.our_topic = world.connect_topic
    world.run_all()
    return world


@settings(max_examples=300)
@given(st.lists(commands, max_size=8), st.booleans(), st.sampled_from(["here", "back"]))
def test_whatever_fails_every_record_is_written_once(
    typed: list[tuple[str, int, bool]], one_topic: bool, last: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = world_in(folder, one_topic=one_topic)
        for which, fail_at, before in typed:
            try:
                command(world, which, fail_at, before=before)
            except ConnectError as error:
                assert "it fails" in str(error)
            world.run_all()
        command(world, last)
        count = len(world.written)
        world.run_all()
        assert world.written == list(range(count + 2))


@pytest.mark.parametrize("one_topic", [True, False])
def test_a_move_ends_with_the_connector_here(tmp_path: Path, one_topic: bool) -> None:
    world = world_in(tmp_path, one_topic=one_topic)
    command(world, "here")
    assert (world.connect_state, world.our_state, world.handover) == ("STOPPED", "STARTED", Handover.HERE)


@pytest.mark.parametrize("one_topic", [True, False])
def test_a_return_ends_with_the_connector_in_connect(tmp_path: Path, one_topic: bool) -> None:
    world = world_in(tmp_path, one_topic=one_topic)
    command(world, "here")
    command(world, "back")
    assert (world.connect_state, world.our_state, world.handover) == ("RUNNING", "STOPPED", Handover.RETURNED)


def test_moving_again_changes_nothing_of_a_connector_that_is_paused_here(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    command(world, "here")
    world.our_state = "PAUSED"
    steps = command(world, "here")
    assert (world.our_state, steps[-1]) == ("PAUSED", "it is here already: nothing was changed")


def test_returning_what_has_not_moved_changes_nothing(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    assert command(world, "back") == ["it is in Connect, where it is RUNNING: nothing was changed"]
    assert world.our_state == "STARTED"


@pytest.mark.parametrize("which", ["here", "back"])
def test_a_connector_that_was_resumed_in_connect_after_its_move_is_left_alone(tmp_path: Path, which: str) -> None:
    world = world_in(tmp_path)
    command(world, "here")
    world.our_state, world.connect_state = "PAUSED", "RUNNING"
    with pytest.raises(DataError, match=r"has moved here, but is RUNNING in Connect.*Stop it there"):
        command(world, which)


@pytest.mark.parametrize("which", ["here", "back"])
def test_other_offsets_without_a_record_of_a_move_are_not_overwritten(tmp_path: Path, which: str) -> None:
    world = world_in(tmp_path)
    command(world, "here")
    world.handover, world.our_state, kept = None, "STOPPED", dict(world.our_topic)
    with pytest.raises(DataError, match=r"1 partition in Connect, 1 here, 1 of them differ\. No move of c is on"):
        command(world, which)
    assert world.our_topic == kept
