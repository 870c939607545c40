"""Which runs of hosted connectors can be in one JVM. Pure rules, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tenant:
    """A run that is, or wants to be, in a JVM.

    :param connector: its name.
    :param memory_mb: of the heap that it needs.
    :param alone: whether no other run may be in its JVM, before, at the same time, or later.
    :param names: under which its classes publish figures, or keep something: no other run at the same time may have one
        of them.
    """

    connector: str
    memory_mb: int
    alone: bool = False
    names: frozenset[str] = frozenset()


@dataclass
class Occupancy:
    """Who is in a JVM.

    :param heap_mb: its heap.
    """

    heap_mb: int
    tenants: list[Tenant] = field(default_factory=list)
    is_closed: bool = False
    """Whether it takes no more runs: something of an earlier one is still at work in it, or one must be alone."""

    def has_room(self, tenant: Tenant) -> bool:
        """Whether a run can be in it now. One that must be alone is only where none was before."""
        if self.is_closed or tenant.alone:
            return False
        if sum(other.memory_mb for other in self.tenants) + tenant.memory_mb > self.heap_mb:
            return False
        return not any(_collide(other, tenant) for other in self.tenants)

    def enter(self, tenant: Tenant) -> None:
        """It is in it from now on."""
        self.tenants.append(tenant)
        self.is_closed = self.is_closed or tenant.alone

    def leave(self, tenant: Tenant) -> None:
        """It has ended."""
        self.tenants.remove(tenant)

    @property
    def is_over(self) -> bool:
        """Whether it can be ended."""
        return self.is_closed and not self.tenants

    def others(self, tenant: Tenant) -> list[str]:
        """The other connectors in it."""
        return [other.connector for other in self.tenants if other is not tenant]


def _collide(one: Tenant, other: Tenant) -> bool:
    return one.connector == other.connector or bool(one.names & other.names)


def megabytes(memory: str) -> int:
    """Of a text such as ``512m`` or ``2g``."""
    return int(memory[:-1]) * (1024 if memory[-1] in "gG" else 1)


def among(connectors: Iterable[str]) -> str:
    """Who else was in a JVM that has ended, as a sentence to append; empty if there is none."""
    names = sorted(connectors)
    if not names:
        return ""
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f" Also in this JVM: {listed}"
