"""ProtobufConverter: Protobuf with a schema registry."""

from __future__ import annotations

from airflow_kconnect.converters.protobuf.format import ProtobufFormat
from airflow_kconnect.converters.registered.confluent import ConfluentConverter


class ProtobufConverter(ConfluentConverter):
    """``io.confluent.connect.protobuf.ProtobufConverter``."""

    form = ProtobufFormat
