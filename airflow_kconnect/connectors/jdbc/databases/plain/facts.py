"""What is known of databases that are read by plain JDBC."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.databases.entry import Database, Lineage, names

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

# Spark has its driver.
DERBY = Database(
    name="derby",
    in_files=True,
    parameters=names(_DERBY_PARAMETERS),
    driver_class="org.apache.derby.iapi.jdbc.AutoloadedDriver",
)
H2 = Database(name="h2", in_files=True, parameters=names(_H2_PARAMETERS))
HSQLDB = Database(name="hsqldb", in_files=True)
SQLSERVER = Database(name="sqlserver", port=1433, lineage=Lineage("mssql", "dbo"))
