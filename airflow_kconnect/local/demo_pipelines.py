"""The pipelines of the demo: what goes in, in two parts, and what must have come out."""

from __future__ import annotations

import csv
import importlib.util
import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from airflow_kconnect.local.errors import SetupError


class Pipeline(ABC):
    """A DAG of one source and one sink, and its data.

    :param data: the folder that the DAG reads from and writes to.
    """

    dag_id: str
    connectors: tuple[str, str]
    """Names of the source and the sink."""
    unit: str
    data_set: str

    def __init__(self, data: Path) -> None:
        self.data = data
        self._all = self._load()
        self._first = len(self._all) * 2 // 3

    def feed(self, run: int) -> str:
        """Put in the first part, then the rest; says what has been added."""
        part = self._all[: self._first] if run == 1 else self._all[self._first :]
        self._add(part)
        return f"{self.unit}, {run}: {'+' * (run > 1)}{len(part):,}"

    def is_complete(self) -> bool:
        """The proof: what came out is what went in, all of it, once, in order."""
        return self.written() == self._expected()

    @abstractmethod
    def files(self) -> list[Path]:
        """The files that came out."""

    @abstractmethod
    def written(self) -> list[Any]:
        """What is in them."""

    @abstractmethod
    def _load(self) -> Sequence[Any]: ...

    @abstractmethod
    def _add(self, part: Sequence[Any]) -> None: ...

    @abstractmethod
    def _expected(self) -> list[Any]: ...


class FilePipeline(Pipeline):
    """The lines of a CSV file, through Kafka into files of JSON lines."""

    dag_id = "example_file_pipeline"
    connectors = ("weather-source", "weather-sink")
    unit, data_set = "lines", "seattle-weather.csv"

    def files(self) -> list[Path]:
        return sorted((self.data / "output").rglob("*.json"))

    def written(self) -> list[Any]:
        return [json.loads(line) for file in self.files() for line in file.read_text(encoding="utf-8").splitlines()]

    def _load(self) -> list[str]:
        return _data_set(self.data_set).read_text(encoding="utf-8").splitlines(keepends=True)

    def _add(self, part: Sequence[str]) -> None:
        with (self.data / "input.csv").open("a", encoding="utf-8") as file:
            file.writelines(part)

    def _expected(self) -> list[str]:
        return [line.rstrip("\n") for line in self._all]


class TablePipeline(Pipeline):
    """The rows of a SQLite table, through Kafka into Parquet files."""

    dag_id = "example_table_pipeline"
    connectors = ("stocks-source", "stocks-sink")
    unit, data_set = "rows", "stocks.csv"

    def files(self) -> list[Path]:
        return sorted((self.data / "parquet").rglob("*.parquet"))

    def written(self) -> list[Any]:
        import pyarrow.parquet

        # Each file by itself: as a data set, its folders would become columns.
        return [row for file in self.files() for row in pyarrow.parquet.ParquetFile(file).read().to_pylist()]

    def _load(self) -> list[dict[str, str]]:
        with _data_set(self.data_set).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def _add(self, part: Sequence[dict[str, str]]) -> None:
        with closing(sqlite3.connect(self.data / "stocks.db")) as database, database:
            columns = "id integer primary key autoincrement not null, symbol text not null, date text, price real"
            database.execute(f"create table if not exists stocks ({columns})")
            database.executemany("insert into stocks (symbol, date, price) values (:symbol, :date, :price)", part)

    def _expected(self) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.data / "stocks.db")) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute("select * from stocks order by id")]


def _data_set(name: str) -> Path:
    """A file that vega_datasets ships; found without importing it, which would load pandas."""
    spec = importlib.util.find_spec("vega_datasets")
    if spec is None or spec.origin is None:
        raise SetupError("vega_datasets is not installed: pip install 'airflow-kconnect[demo]'.")
    return Path(spec.origin).parent / "_data" / name
