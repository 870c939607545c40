"""What has to change in a table so that it can take rows of other columns; pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import types as T


@dataclass(frozen=True)
class Change:
    """One change of a table's columns.

    :param kind: ``add`` a column or member, ``widen`` its type, make it ``optional``.
    :param path: names of the members down to it; ``element``, ``key`` and ``value`` are those of arrays and maps, as in
        Spark's `ALTER TABLE`.
    :param type: the new type (``add``, ``widen``).
    :param comment: of a column that is added.
    """

    kind: Literal["add", "widen", "optional"]
    path: tuple[str, ...]
    type: T.DataType | None = None
    comment: str | None = None
