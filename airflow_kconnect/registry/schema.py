"""A schema as a registry stores it."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema as a registry keeps it.

    :param type: ``AVRO``, ``PROTOBUF`` or ``JSON``.
    :param text: the schema itself.
    :param references: name by which the text refers to another schema -> that schema.
    :param version: its version in the subject where it was looked up; None if only its id is known.
    :param guid: what names it in headers, if that is needed.
    """

    type: str
    text: str
    references: tuple[tuple[str, RegisteredSchema], ...] = ()
    version: int | None = None
    guid: UUID | None = field(default=None, compare=False)
