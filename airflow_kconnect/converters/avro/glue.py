"""AWSKafkaAvroConverter: Avro with AWS Glue's schema registry."""

from __future__ import annotations

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.registered.glue import GlueConverter
from airflow_kconnect.registry.glue.keys import define_record_type


class GlueAvroFormat(AvroFormat):
    """Amazon's ``AvroData`` is a copy of Confluent's with another namespace for the names that it makes up."""

    namespace = "com.amazonaws.services.schemaregistry.kafkaconnect.avrodata"

    @classmethod
    def config(cls) -> ConfigDef:
        return define_record_type(super().config(), "avroRecordType", "GENERIC_RECORD", "SPECIFIC_RECORD", "UNKNOWN")


class AWSKafkaAvroConverter(GlueConverter):
    """``com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter``."""

    form = GlueAvroFormat
    secondary = "io.confluent.kafka.serializers.KafkaAvroDeserializer"
