"""The registry entries of databases that are read and written through plain JDBC."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.entry import PLAIN, Database, Lineage, names
from airflow_kconnect.connectors.jdbc.facts.errors.plain import of_derby, of_h2, of_oracle, of_sql_server

_DERBY_PARAMETERS = """
    bootPassword collation create databaseName dataEncryption encryptionAlgorithm encryptionKey
    encryptionKeyLength retrieveMessageText securityMechanism ssl territory upgrade user
"""

_H2_PARAMETERS = """
    access_mode_data allow_literals auto_reconnect auto_server cache_size cache_type case_insensitive_identifiers
    cipher collation compress database_to_lower database_to_upper db_close_delay db_close_on_exit
    default_lock_timeout default_null_ordering file_lock forbid_creation ifexists ignorecase
    ignore_unknown_settings lazy_query_execution lock_timeout mode mv_store non_keywords old_information_schema
    page_size query_cache_size query_timeout retention_time schema schema_search_path throttle timezone
    user variable_binary write_delay zero_based_enums
"""

_TARGETS = f"{PLAIN}dialects:"

# Spark has its driver.
DERBY = Database(
    name="derby",
    example="jdbc:derby://host:1527/database",
    in_files=True,
    servers="//",
    parameters=names(_DERBY_PARAMETERS),
    driver_class="org.apache.derby.iapi.jdbc.AutoloadedDriver",
    condition=of_derby,
    writer=f"{_TARGETS}DerbyTarget",
)
H2 = Database(
    name="h2",
    example="jdbc:h2:tcp://host/database",
    in_files=True,
    servers="(tcp|ssl)://",
    parameters=names(_H2_PARAMETERS),
    driver_class="org.h2.Driver",
    coordinates=("com.h2database:h2:2.4.240",),
    condition=of_h2,
    writer=f"{_TARGETS}H2Target",
)
HSQLDB = Database(
    name="hsqldb",
    example="jdbc:hsqldb:hsql://host/database",
    in_files=True,
    servers="(hsqls?|https?)://",
    writer=f"{_TARGETS}HsqldbTarget",
)
ORACLE = Database(
    name="oracle",
    example="jdbc:oracle:thin:@//host:1521/service",
    port=1521,
    condition=of_oracle,
    writer=f"{_TARGETS}OracleTarget",
)
SQLSERVER = Database(
    name="sqlserver",
    example="jdbc:sqlserver://host:1433;databaseName=database",
    port=1433,
    lineage=Lineage("mssql", "dbo"),
    condition=of_sql_server,
    writer=f"{_TARGETS}SqlServerTarget",
)
