"""AvroConverter: Avro with a schema registry."""

from __future__ import annotations

from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered.confluent import ConfluentConverter


class AvroConverter(ConfluentConverter):
    """``io.confluent.connect.avro.AvroConverter``."""

    form = AvroFormat
