"""The registry entries of databases that are read and written through plain JDBC."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.entry import PLAIN, Database, Lineage, names
from airflow_kconnect.connectors.jdbc.facts.errors.plain import (
    of_derby,
    of_h2,
    of_hsqldb,
    of_oracle,
    of_sql_server,
)

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

# A server looks at the first line alone; the others are for databases that run within the job.
_HSQLDB_PARAMETERS = """
    allow_empty_batch check_props close_result default_schema get_column_name loginTimeout memory_lobs tls_wrapper user
    create crypt_iv crypt_key crypt_lobs crypt_type files_readonly hsqldb.cache_rows hsqldb.cache_size
    hsqldb.default_table_type hsqldb.lock_file hsqldb.log_data hsqldb.log_size hsqldb.result_max_memory_rows hsqldb.tx
    hsqldb.tx_level hsqldb.write_delay hsqldb.write_delay_millis ifexists readonly sql.avg_scale sql.char_literal
    sql.concat_nulls sql.convert_trunc sql.default_collation sql.double_nan sql.enforce_names sql.enforce_refs
    sql.enforce_size sql.enforce_types sql.ignore_case sql.longvar_is_lob sql.nulls_first
    sql.nulls_order sql.pad_space sql.regular_names sql.restrict_exec sql.syntax_db2 sql.syntax_mss sql.syntax_mys
    sql.syntax_ora sql.syntax_pgs sql.unique_nulls
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
    reader="airflow_kconnect.connectors.jdbc.source.dialect:TextDialect",
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
    reader="airflow_kconnect.connectors.jdbc.databases.h2.reading:H2",
    writer=f"{_TARGETS}H2Target",
)
HSQLDB = Database(
    name="hsqldb",
    example="jdbc:hsqldb:hsql://host/database",
    in_files=True,
    servers="(hsqls?|https?)://",
    parameters=names(_HSQLDB_PARAMETERS),
    driver_class="org.hsqldb.jdbc.JDBCDriver",
    coordinates=("org.hsqldb:hsqldb:2.7.4",),
    condition=of_hsqldb,
    reader="airflow_kconnect.connectors.jdbc.databases.hsqldb.reading:Hsqldb",
    writer=f"{_TARGETS}HsqldbTarget",
)
ORACLE = Database(
    name="oracle",
    example="jdbc:oracle:thin:@//host:1521/service",
    port=1521,
    condition=of_oracle,
    reader="airflow_kconnect.connectors.jdbc.databases.oracle.reading:Oracle",
    writer=f"{_TARGETS}OracleTarget",
)
SQLSERVER = Database(
    name="sqlserver",
    example="jdbc:sqlserver://host:1433;databaseName=database",
    port=1433,
    lineage=Lineage("mssql", "dbo"),
    condition=of_sql_server,
    reader="airflow_kconnect.connectors.jdbc.databases.sqlserver.reading:SqlServer",
    writer=f"{_TARGETS}SqlServerTarget",
)
