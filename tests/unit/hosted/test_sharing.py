"""Which runs can be in one JVM."""

from __future__ import annotations

import pytest

from airflow_kconnect.hosted.sharing import Occupancy, Tenant, among, megabytes


def tenant(connector: str = "a", memory_mb: int = 512, *names: str, alone: bool = False) -> Tenant:
    return Tenant(connector, memory_mb, alone=alone, names=frozenset(names))


def occupied(*tenants: Tenant, heap_mb: int = 1024) -> Occupancy:
    occupancy = Occupancy(heap_mb)
    for each in tenants:
        occupancy.enter(each)
    return occupancy


@pytest.mark.parametrize(
    ("inside", "new", "has_room"),
    [
        pytest.param([], tenant(), True, id="a JVM that is free"),
        pytest.param([tenant("b")], tenant(), True, id="another connector"),
        pytest.param([tenant("a")], tenant(), False, id="the same connector"),
        pytest.param([tenant("b"), tenant("c")], tenant(), False, id="the heap is taken"),
        pytest.param([tenant("b", 700)], tenant(), False, id="what is left of the heap is too small"),
        pytest.param([], tenant(memory_mb=2048), False, id="the heap is too small"),
        pytest.param([tenant("b", 512, "server x")], tenant("a", 512, "server x"), False, id="the same name of MBeans"),
        pytest.param([tenant("b", 512, "server x")], tenant("a", 512, "server y"), True, id="other names of MBeans"),
        pytest.param([], tenant(alone=True), False, id="a run that wants to be alone, where others may have been"),
        pytest.param([tenant("b", alone=True)], tenant(), False, id="a run that is alone"),
    ],
)
def test_room_for_another_run(inside: list[Tenant], new: Tenant, has_room: bool) -> None:
    assert occupied(*inside).has_room(new) is has_room


def test_a_run_that_has_ended_leaves_its_place() -> None:
    occupancy = occupied(tenant("b"), tenant("c"))
    occupancy.leave(tenant("b"))
    assert occupancy.has_room(tenant("a"))


def test_where_a_run_was_alone_none_follows_and_it_is_over() -> None:
    occupancy = occupied(tenant("b", alone=True))
    occupancy.leave(tenant("b", alone=True))
    assert (occupancy.is_over, occupancy.has_room(tenant("a"))) == (True, False)


def test_one_that_takes_no_more_runs_is_over_with_the_last_of_those_in_it() -> None:
    occupancy = occupied(tenant("b"), tenant("c"))
    occupancy.is_closed = True
    occupancy.leave(tenant("b"))
    assert not occupancy.is_over
    occupancy.leave(tenant("c"))
    assert occupancy.is_over


@pytest.mark.parametrize(("text", "mb"), [("512m", 512), ("700M", 700), ("2g", 2048), ("1G", 1024)])
def test_memory_in_megabytes(text: str, mb: int) -> None:
    assert megabytes(text) == mb


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["b", "a"], " Also in this JVM: a, b"),
        (list("gfedcba"), " Also in this JVM: a, b, c, d, e and 2 more"),
    ],
)
def test_who_else_was_in_it_is_told(names: list[str], text: str) -> None:
    assert among(names) == text
