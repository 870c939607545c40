"""A sink function that takes a DataFrame and writes each batch in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.conformance.harness import SinkHarness
from airflow_kconnect.sdk import sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@sink(idempotent=True)
def archive(rows: DataFrame, batch_id: str, folder: str) -> None:
    """Lines of JSON, in a folder for each batch."""
    rows.write.mode("overwrite").json(f"{folder}/{batch_id}")


class ArchiveHarness(SinkHarness):
    """The lines of all folders."""

    def config(self) -> Mapping[str, Any]:
        return {
            "folder": str(self.folder / "archive"),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }

    def arrived(self) -> Iterator[str]:
        for file in sorted((self.folder / "archive").glob("*/*.json")):
            yield from file.read_text(encoding="utf-8").splitlines()
