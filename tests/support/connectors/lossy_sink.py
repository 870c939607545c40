"""A sink that loses rows on their way to the writer, as a faulty user-defined connector might."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame


class LossySink(DirectorySinkConnector):
    """Writes the records with an even offset."""

    def render(self, frame: RecordFrame) -> DataFrame:
        return super().render(frame).where("kafka_offset % 2 = 0")
