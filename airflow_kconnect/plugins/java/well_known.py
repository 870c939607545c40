"""Well-known Java connectors: which Maven coordinates, or whose archive, has a class that is not installed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from airflow_kconnect.plugins.java.kinds import Kind, is_name

_DEBEZIUM = "3.5.0.Final"
_KAFKA = "4.3.0"


@dataclass(frozen=True)
class WellKnown:
    """A connector that many use.

    :param name: full name of the class.
    :param artifact: `group:artifact` on Maven Central.
    :param version: one that runs here; None if the user has to choose.
    """

    name: str
    kind: Kind
    artifact: str
    version: str | None

    @property
    def coordinates(self) -> str:
        """What `kconnect plugins install` takes."""
        return f"{self.artifact}:{self.version or 'VERSION'}"


def _debezium(package: str, name: str, kind: Kind = "source") -> WellKnown:
    artifact = "postgres" if package == "postgresql" else package
    class_name = f"io.debezium.connector.{package}.{name}"
    return WellKnown(class_name, kind, f"io.debezium:debezium-connector-{artifact}", _DEBEZIUM)


def _mirror(name: str) -> WellKnown:
    class_name = f"org.apache.kafka.connect.mirror.{name}"
    return WellKnown(class_name, "source", "org.apache.kafka:connect-mirror", _KAFKA)


CONNECTORS: tuple[WellKnown, ...] = (
    _debezium("postgresql", "PostgresConnector"),
    _debezium("mysql", "MySqlConnector"),
    _debezium("mariadb", "MariaDbConnector"),
    _debezium("mongodb", "MongoDbConnector"),
    _debezium("sqlserver", "SqlServerConnector"),
    _debezium("oracle", "OracleConnector"),
    _debezium("db2", "Db2Connector"),
    _debezium("vitess", "VitessConnector"),
    _debezium("spanner", "SpannerConnector"),
    _debezium("mongodb", "MongoDbSinkConnector", "sink"),
    _debezium("jdbc", "JdbcSinkConnector", "sink"),
    _mirror("MirrorSourceConnector"),
    _mirror("MirrorCheckpointConnector"),
    _mirror("MirrorHeartbeatConnector"),
    WellKnown(
        "org.apache.iceberg.connect.IcebergSinkConnector",
        "sink",
        "org.apache.iceberg:iceberg-kafka-connect",
        "1.9.2",
    ),
    WellKnown(
        "com.mongodb.kafka.connect.MongoSourceConnector", "source", "org.mongodb.kafka:mongo-kafka-connect", None
    ),
    WellKnown("com.mongodb.kafka.connect.MongoSinkConnector", "sink", "org.mongodb.kafka:mongo-kafka-connect", None),
    WellKnown(
        "com.snowflake.kafka.connector.SnowflakeSinkConnector", "sink", "com.snowflake:snowflake-kafka-connector", None
    ),
    WellKnown(
        "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
        "sink",
        "io.aiven:s3-connector-for-apache-kafka",
        None,
    ),
    WellKnown("io.aiven.kafka.connect.gcs.GcsSinkConnector", "sink", "io.aiven:gcs-connector-for-apache-kafka", None),
)
# Camel has hundreds, each in an artifact of its own: `httpsink.CamelHttpsinkSinkConnector` is in
# `camel-http-sink-kafka-connector`.
_CAMEL = re.compile(r"org\.apache\.camel\.kafkaconnector\.(\w+)\.\w+Connector")
# Published by their vendors only as archives.
_ARCHIVES = (
    (
        r"io\.confluent\.connect\..*|io\.confluent\.kafka\.connect\..*|com\.github\.jcustenborder\.kafka\.connect\..*",
        "Confluent's hub",
    ),
    (r"io\.lenses\..*|com\.datamountaineer\..*", "Lenses's releases"),
    (r"com\.wepay\..*|com\.clickhouse\..*|io\.streamthoughts\..*|org\.neo4j\..*", "its vendor"),
)


def well_known(name: str) -> WellKnown | None:
    """The connector of a full name, a simple name, or a simple name without `Connector`; None if it is not here, or
    several have this name.
    """
    found = [each for each in CONNECTORS if is_name(name, each.kind, each.name)]
    return found[0] if len(found) == 1 else None


def how_to_install(name: str) -> str | None:
    """A sentence about a well-known Java class, without its end; None if nothing is known."""
    if (found := well_known(name)) is not None:
        return f"It is a Java connector, which runs hosted: kconnect plugins install {found.coordinates}"
    if camel := _CAMEL.fullmatch(name):
        return (
            f"It is a Java connector, which runs hosted: Apache Camel has each in an artifact of its own, here that of "
            f"{camel[1]}: kconnect plugins install org.apache.camel.kafkaconnector:camel-...-kafka-connector:VERSION"
        )
    for pattern, where in _ARCHIVES:
        if re.fullmatch(pattern, name) and name.endswith("Connector"):
            return (
                f"It is a Java connector, which runs hosted: download its archive from {where}, then kconnect plugins "
                "install FILE.zip"
            )
    return None
