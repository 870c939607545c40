"""What each format answers about a file, and the rows it makes of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.record_files.opening import Source
from airflow_kconnect.connectors.record_files.types import Description
from airflow_kconnect.connectors.record_files.values import Errors

Columns = dict[str, Description]


@dataclass(frozen=True)
class Rows:
    """Rows that follow each other in a file.

    :param values: of the Arrow type of the file's schema; null where there is an error.
    """

    values: pa.Array
    errors: Errors = field(default_factory=dict)


class RecordFormat(ABC):
    """A file in its format. Methods raise errors of Arrow, too: the file cannot be read.

    A file has positions at which it can be cut: bytes, row groups, stripes. They begin with 0.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.settings = source, source.settings

    def columns(self, known: Mapping[str, Description]) -> Columns | None:
        """What the file does not say itself about its columns, and a plan has to keep; None: there is no such thing.
        Empty: there is nothing in the file.

        :param known: types of columns by their names, as far as they are.
        """
        return None

    @abstractmethod
    def schema(self, columns: Columns | None) -> ConnectSchema | None:
        """Of the records; None: they have none, and `Rows` have JSON texts."""

    @abstractmethod
    def cuts(self, begin: int) -> list[int]:
        """Where parts that are read in parallel begin, from `begin` on, and the end."""

    @abstractmethod
    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        """All rows between two positions, in order."""
