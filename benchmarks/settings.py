"""What both sides run with, named in one place: heaps, Java options, client settings, transactions, converters."""

from __future__ import annotations

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.local.broker_files import worker_config

PARTITIONS = 2
HEAP_MB = 2048
"""Of each side's JVM."""
COMMIT_MS = 10_000
"""Ours commits its transactions at this interval, and so does a tuned Connect."""
CORES = {"local[1]": 1, "local[2]": 2}
"""Spark masters of our side, and how many tasks of Connect they are compared with."""
JSON = "org.apache.kafka.connect.json.JsonConverter"
AVRO = "io.confluent.connect.avro.AvroConverter"
APICURIO_VERSION = "2.6.13.Final"  # the POMs of later ones name artifacts that Maven Central does not have
APICURIO = f"io.apicurio:apicurio-registry-utils-converter:{APICURIO_VERSION}"
"""Kafka Connect's Avro converter: free, and its ``AvroData`` is Confluent's."""
STRING = "org.apache.kafka.connect.storage.StringConverter"

# What Kafka's own scripts start a worker with (bin/connect-distributed.sh, bin/kafka-run-class.sh).
SCRIPT_JVM = (
    "-Xms256m",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)
# Ours takes the serial collector on so few cores. Its later compiler only makes Spark start sooner: a worker that runs
# for days is quicker without.
TUNED_JVM = ("-Xms256m", "-server", "-XX:+UseSerialGC")

# Workers of the tests flush each second.
SCRIPT_WORKER = {"offset.flush.interval.ms": "60000"}
TUNED_WORKER = {"offset.flush.interval.ms": str(COMMIT_MS)}

_RECORDS_OF_A_BATCH = "10000"


def tuned_source() -> dict[str, str]:
    """A source connector's keys for Kafka Connect: our producer's settings and our transactions."""
    ours = ClientConfigs({}).producer("any")
    producer = {key: ours[key] for key in ("acks", "batch.size", "compression.type", "linger.ms")}
    producer["buffer.memory"] = ours["queue.buffering.max.kbytes"] * 1024
    return {
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": str(COMMIT_MS),
        **{f"producer.override.{key}": str(value) for key, value in producer.items()},
    }


def tuned_sink() -> dict[str, str]:
    """A sink connector's keys for Kafka Connect: our consumer's settings, in Java's names."""
    ours = ClientConfigs({}).consumer("any", bulk=True)
    consumer = {
        "isolation.level": ours["isolation.level"],
        "fetch.max.wait.ms": ours["fetch.wait.max.ms"],
        "fetch.min.bytes": 1_000_000,
        # librdkafka reads ahead as much.
        "max.partition.fetch.bytes": ours["queued.max.messages.kbytes"] * 1024,
        "max.poll.records": _RECORDS_OF_A_BATCH,
    }
    return {f"consumer.override.{key}": str(value) for key, value in consumer.items()}


# Lines of a `poll`: 2 000 unless it is set.
TUNED_FILE_SOURCE = {"batch.size": _RECORDS_OF_A_BATCH}
# What the Debezium connectors' documentation names for throughput. Its sink's `use.reduction.buffer` stays off: here
# each key comes once, so that it would only cost.
TUNED_DEBEZIUM_SOURCE = {"max.batch.size": "20480", "max.queue.size": "81920", "snapshot.fetch.size": "20480"}
TUNED_DEBEZIUM_SINK = {
    "batch.size": _RECORDS_OF_A_BATCH,
    "dialect.postgres.unnest.insert.enabled": "true",
    "consumer.override.max.poll.records": _RECORDS_OF_A_BATCH,
}


def our_worker(bootstrap: str) -> dict[str, str]:
    """The worker properties of our runs."""
    return worker_config(bootstrap)


def our_source() -> dict[str, str]:
    """A source connector's keys for our side."""
    return {"transaction.boundary": "interval", "transaction.boundary.interval.ms": str(COMMIT_MS)}


def converters(*, schemas: bool, keys: bool = False) -> dict[str, str]:
    """JsonConverter for values, and for keys if there are any; else a key is a string."""
    flag = str(schemas).lower()
    value = {"value.converter": JSON, "value.converter.schemas.enable": flag}
    return value | (
        {"key.converter": JSON, "key.converter.schemas.enable": flag} if keys else {"key.converter": STRING}
    )


def avro_converters(registry_url: str) -> dict[str, str]:
    """Our side: Avro for values. Keys are JSON, as in the other benchmarks."""
    avro = {"value.converter": AVRO, "value.converter.schema.registry.url": registry_url}
    return converters(schemas=False, keys=True) | avro


def apicurio_converters(registry_url: str) -> dict[str, str]:
    """Kafka Connect's side: the same messages, with Confluent's four bytes of schema id in front."""
    own = {
        "apicurio.registry.url": registry_url.replace("/apis/ccompat/v7", "/apis/registry/v2"),
        "apicurio.registry.auto-register": "true",
        "apicurio.registry.if-exists": "RETURN_OR_UPDATE",
        "apicurio.registry.headers.enabled": "false",
        "apicurio.registry.as-confluent": "true",
        "apicurio.registry.id-handler": "io.apicurio.registry.serde.Legacy4ByteIdHandler",
        "apicurio.registry.use-id": "contentId",
    }
    avro = {"value.converter": "io.apicurio.registry.utils.converter.AvroConverter"}
    return converters(schemas=False, keys=True) | avro | {f"value.converter.{key}": value for key, value in own.items()}
