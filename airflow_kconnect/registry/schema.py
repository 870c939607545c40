"""A schema as a registry stores it, and what reads ask of any registry."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.registry.wire import SchemaName


class UnknownSchemaError(DataError):
    """The registry has no such schema, subject or version."""


@dataclass(frozen=True, eq=False)
class RegisteredSchema:
    """A schema as a registry keeps it.

    What it refers to is a graph: two schemas may refer to the same third one. So each has a digest, by which equal ones
    are known without a walk through all ways to them.

    :param type: ``AVRO``, ``PROTOBUF`` or ``JSON``.
    :param text: the schema itself.
    :param references: name by which the text refers to another schema -> that schema.
    :param version: its version in the subject where it was looked up; None if only its id is known.
    """

    type: str
    text: str
    references: tuple[tuple[str, RegisteredSchema], ...] = field(default=(), repr=False)
    version: int | None = None
    digest: bytes = field(init=False, repr=False)
    """Of everything."""

    def __post_init__(self) -> None:
        own = self.type, self.text, self.version, [(name, other.digest) for name, other in self.references]
        object.__setattr__(self, "digest", hashlib.sha256(ascii(own).encode()).digest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegisteredSchema) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def referred(self) -> Iterator[tuple[str, RegisteredSchema]]:
        """All that it refers to, also indirectly, each name and schema once, after those that it refers to itself."""
        yield from self._referred(set())

    def _referred(self, seen: set[tuple[str, bytes]]) -> Iterator[tuple[str, RegisteredSchema]]:
        for name, other in self.references:
            if (name, other.digest) not in seen:
                seen.add((name, other.digest))
                yield from other._referred(seen)
                yield name, other


class Schemas(Protocol):
    """Where messages' schemas are looked up: a client of a registry."""

    def schema(self, name: SchemaName) -> RegisteredSchema:
        """The schema that messages name so, with those that it refers to.

        :raises UnknownSchemaError: the registry has no such schema. :raises RetriableError: it is unavailable.
        :raises ConfigError: it refuses the credentials, or is none.
        """
