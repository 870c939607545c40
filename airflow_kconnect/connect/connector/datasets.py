"""Data outside Kafka that a connector reads or writes, under its OpenLineage names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, order=True)
class Dataset:
    """A dataset's name following OpenLineage's naming conventions; never with user, password or parameters.

    :param namespace: where it is: ``file``, ``postgres://db:5432``.
    :param name: its name there: ``/data/orders.csv``, ``shop.public.orders``.
    :param columns: name and type of each, if known.
    :param symlink: the same under another name: a table in its catalog, if the dataset is its location.
    """

    namespace: str
    name: str
    columns: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    symlink: Dataset | None = field(default=None, compare=False)


def files(paths: Iterable[str | Path | None]) -> list[Dataset]:
    """Files or folders that have the same path on driver and executors."""
    return [Dataset("file", str(path)) for path in paths if path]
