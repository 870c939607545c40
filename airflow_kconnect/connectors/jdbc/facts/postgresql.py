"""The registry entry of PostgreSQL."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.entry import Database, Lineage, names

_PARAMETERS = """
    adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum ApplicationName assumeMinServerVersion autosave
    binaryTransfer binaryTransferDisable binaryTransferEnable cancelSignalTimeout channelBinding cleanupSavepoints
    connectTimeout convertBooleanToNumeric currentSchema databaseMetadataCacheFields databaseMetadataCacheFieldsMiB
    defaultRowFetchSize disableColumnSanitiser escapeSyntaxCallMode groupStartupParameters gssEncMode gsslib
    gssResponseTimeout gssUseDefaultCreds hideUnprivilegedObjects hostRecheckSeconds jaasApplicationName jaasLogin
    kerberosServerName loadBalanceHosts localSocketAddress loggerLevel loginTimeout logServerErrorDetail
    logUnclosedConnections maxResultBuffer maxSendBufferSize options preferQueryMode preparedStatementCacheQueries
    preparedStatementCacheSizeMiB prepareThreshold protocolVersion quoteReturningIdentifiers readOnly readOnlyMode
    receiveBufferSize replication reWriteBatchedInserts sendBufferSize socketTimeout ssl sslcert sslcrl sslkey
    sslmode sslNegotiation sslpassword sslResponseTimeout sslrootcert sspiServiceClass stringtype targetServerType
    tcpKeepAlive tcpNoDelay unknownLength user useSpnego
"""

POSTGRESQL = Database(
    name="postgresql",
    example="jdbc:postgresql://host:port/database",
    port=5432,
    separators="[?&]",
    parameters=names(_PARAMETERS),
    folds_names=True,
    driver_class="org.postgresql.Driver",
    coordinates=("org.postgresql:postgresql:42.7.8",),
    lineage=Lineage("postgres", "public"),
    has_snapshots=True,
    misses_late_commits=False,
    reader="airflow_kconnect.connectors.jdbc.databases.postgresql.reading:PostgreSql",
    writer="airflow_kconnect.connectors.jdbc.databases.postgresql.writing:PostgresTarget",
)
