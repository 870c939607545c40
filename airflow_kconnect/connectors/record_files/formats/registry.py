"""Formats by their names."""

from __future__ import annotations

from airflow_kconnect.connectors.record_files.config import AVRO, CSV, JSON, ORC, PARQUET, TEXT
from airflow_kconnect.connectors.record_files.formats.avro import AvroFormat
from airflow_kconnect.connectors.record_files.formats.base import RecordFormat
from airflow_kconnect.connectors.record_files.formats.columnar import OrcFormat, ParquetFormat
from airflow_kconnect.connectors.record_files.formats.csv import CsvFormat
from airflow_kconnect.connectors.record_files.formats.json_lines import JsonFormat
from airflow_kconnect.connectors.record_files.formats.text import TextFormat
from airflow_kconnect.connectors.record_files.opening import Source

_FORMATS: dict[str, type[RecordFormat]] = {
    AVRO: AvroFormat,
    CSV: CsvFormat,
    JSON: JsonFormat,
    ORC: OrcFormat,
    PARQUET: ParquetFormat,
    TEXT: TextFormat,
}


def opened(source: Source) -> RecordFormat:
    """A file in its format."""
    return _FORMATS[source.format](source)
