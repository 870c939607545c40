"""The demo's pipelines: their input, in two parts, their runs, and the expected output."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.demo.data import stock_rows, weather_lines
from airflow_kconnect.demo.folder import example_dag
from airflow_kconnect.submit.spark import SparkSubmit


@dataclass(frozen=True)
class Answer:
    """What programs find in the output.

    :param columns: of the rows.
    :param rows: program -> the rows that it answers to the query.
    :param hint: what to do to see more of them; may be empty.
    """

    query: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    hint: str = ""


@dataclass(frozen=True)
class Run:
    """One run of a DAG.

    :param added: what was added to the input before it.
    :param seconds: how long the run took.
    :param reports: task -> its report.
    """

    dag_id: str
    added: str
    seconds: float
    reports: dict[str, dict[str, Any]]


class Pipeline(ABC):
    """A DAG of one source and one sink, and its data.

    :param data: the folder that the DAG reads from and writes to.
    """

    dag_id: str
    connectors: tuple[str, str]
    """Names of the source and the sink."""
    topic: str
    unit: str
    output_unit: str = ""
    """What its output is counted in, if that is something else."""
    route: str
    """What it moves from where to where, for display."""
    input: str
    """The file in the folder that it reads."""
    subject: str
    """What its data are about."""
    news: str = "records are added"
    """What happens to its input between its runs."""
    downloads: tuple[str, int] = ("", 0)
    """What it needs besides Kafka and a JDBC driver, and how many MB that is."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._all = self._load()
        self._first = len(self._all) * 2 // 3

    def check(self, spark: SparkSubmit) -> None:
        """Find out before anything is started whether it can run.

        :raises SetupError: it cannot.
        """

    def dag_file(self) -> Path:
        """The file of the DAG.

        :raises SetupError: it is missing.
        """
        return example_dag(self.dag_id)

    def __len__(self) -> int:
        return len(self._all)

    def feed(self, run: int) -> str:
        """Add the first part, then the rest; says what has been added."""
        part = self._all[: self._first] if run == 1 else self._all[self._first :]
        self._add(part)
        return f"{'+' * (run > 1)}{len(part):,} {self.unit}"

    def is_complete(self) -> bool:
        """The proof: the output is what it has to be."""
        return self.written() == self._expected()

    def proof(self) -> str:
        """What `is_complete` has shown."""
        return f"{len(self):,} {self.unit} in, the same out, each once and in order"

    def answer(self) -> Answer | None:
        """What other programs find in its output, if they are asked."""
        return None

    @abstractmethod
    def files(self) -> list[Path]:
        """The output files."""

    @abstractmethod
    def written(self) -> list[Any]:
        """Their content."""

    @abstractmethod
    def _load(self) -> Sequence[Any]: ...

    @abstractmethod
    def _add(self, part: Sequence[Any]) -> None: ...

    @abstractmethod
    def _expected(self) -> list[Any]: ...


class FilePipeline(Pipeline):
    """The lines of a CSV file, through Kafka into files of JSON lines."""

    dag_id = "example_file_pipeline"
    connectors, topic = ("weather-source", "weather-sink"), "weather"
    unit, route, input = "lines", "lines of a CSV file -> Kafka -> JSON lines", "input.csv"
    subject = "weather"

    def files(self) -> list[Path]:
        return sorted((self.data / "output").rglob("*.json"))

    def written(self) -> list[Any]:
        return [json.loads(line) for file in self.files() for line in file.read_text(encoding="utf-8").splitlines()]

    def _load(self) -> list[str]:
        return weather_lines()

    def _add(self, part: Sequence[str]) -> None:
        with (self.data / self.input).open("a", encoding="utf-8") as file:
            file.writelines(part)

    def _expected(self) -> list[str]:
        return [line.rstrip("\n") for line in self._all]


class TablePipeline(Pipeline):
    """The rows of a SQLite table, through Kafka into Parquet files."""

    dag_id = "example_table_pipeline"
    connectors, topic = ("stocks-source", "stocks-sink"), "db-stocks"
    unit, route, input = "rows", "rows of a SQLite table -> Kafka -> Parquet", "stocks.db"
    subject = "stock prices"

    def files(self) -> list[Path]:
        return sorted((self.data / "parquet").rglob("*.parquet"))

    def written(self) -> list[Any]:
        import pyarrow.parquet

        # Each file by itself: read as a data set, its folders would become columns.
        return [row for file in self.files() for row in pyarrow.parquet.ParquetFile(file).read().to_pylist()]

    def _load(self) -> list[dict[str, str | float]]:
        return stock_rows()

    def _add(self, part: Sequence[dict[str, str | float]]) -> None:
        with closing(sqlite3.connect(self.data / self.input)) as database, database:
            columns = "id integer primary key autoincrement not null, symbol text not null, date text, price real"
            database.execute(f"create table if not exists stocks ({columns})")
            database.executemany("insert into stocks (symbol, date, price) values (:symbol, :date, :price)", part)

    def _expected(self) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.data / self.input)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute("select * from stocks order by id")]
