"""Which parameters of JDBC drivers are possible: none that load code, write files, or unpack Java objects.

A connector's configuration may come from someone who may not run programs on the machines that Spark runs on. Many
drivers have parameters that name a class to load, a script to run or a file to write. For the databases that are known
here the harmless ones are listed, and no others are possible. For the drivers of other databases there is only a list
of what is known to be harmful, in any of them: nothing is lost by refusing H2's parameters to MySQL, and drivers borrow
from each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_plus

_REFUSED = {
    "PostgreSQL": (
        "sslfactory",
        "sslfactoryarg",
        "sslpasswordcallback",
        "sslhostnameverifier",
        "loggerfile",
        "service",
    ),
    "MySQL and MariaDB": (
        *("autodeserialize", "allowloadlocalinfile", "allowloadlocalinfileinpath", "allowlocalinfile"),
        *("allowurlinlocalinfile", "detectcustomcollations", "logger", "propertiestransform", "idtokenfile"),
        *("ociconfigfile", "loadbalanceexceptionchecker", "credentialtype", "useconfigs"),
    ),
    "SQLite": ("enable_load_extension", "load_extension"),
    "H2": (
        *("init", "trace_level_file", "trace_level_system_out", "java_object_serializer", "database_event_listener"),
        *("authenticator", "authrealm"),
    ),
    "Derby": (
        *("startmaster", "startslave", "stopslave", "failover", "slavehost", "slaveport", "createfrom", "restorefrom"),
        *("rollforwardrecoveryfrom", "logdevice"),
    ),
    "Db2": (
        *("clientrerouteserverlistjndiname", "clientrerouteserverlistjndicontext", "tracefile", "tracedirectory"),
        "pdqproperties",
    ),
    "others": (
        *("tns_admin", "inifile", "initfile", "session_init_sql_file", "model", "crypt_provider"),
        *("krbjaasfile", "logpath", "logdir"),
    ),
}
"""Parameters in lower case."""

_NAMES = frozenset(name for names in _REFUSED.values() for name in names)

_CLASSES = re.compile(
    r"(?:factory(?:arg|class|constructorarg)?|class(?:name|path)?|classconstructorarg|managerconstructorarg"
    r"|interceptors?|listeners?|verifier|serializer|plugins?|plugin_?name|strategy|eventhandler|loader"
    r"|callback(?:handler|class)?|callback_handler|(?:credentials?|info|config|sslcontext|connection|encryption)"
    r"_?providers?(?:class)?|_impl)$"
)
"""Ends of the names of parameters whose value is, in one driver or another, the name of a class to load."""

_ALLOWED = {
    "postgresql": """
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
    """,
    "mysql": """
        address host port priority protocol type user
        allowMultiQueries allowNanAndInf allowPublicKeyRetrieval allowReplicaDownConnections allowSourceDownConnections
        alwaysSendSetIsolation autoClosePStmtStreams autoReconnect autoReconnectForPools autoSlowLog blobsAreStrings
        blobSendChunkSize cacheCallableStmts cacheDefaultTimeZone cachePrepStmts cacheResultSetMetadata
        cacheServerConfiguration callableStmtCacheSize characterEncoding characterSetResults
        clientCertificateKeyStorePassword clientCertificateKeyStoreType clientCertificateKeyStoreUrl
        clobberStreamingResults clobCharacterEncoding compensateOnDuplicateKeyUpdateCounts connectionAttributes
        connectionCollation connectionTimeZone connectTimeout continueBatchOnError createDatabaseIfNotExist
        customCharsetMapping databaseTerm defaultFetchSize disconnectOnExpiredPasswords dnsSrv
        dontCheckOnDuplicateKeyUpdateInSQL dontTrackOpenResources dumpQueriesOnException elideSetAutoCommits
        emptyStringsConvertToZero emulateLocators emulateUnsupportedPstmts enabledSSLCipherSuites enabledTLSProtocols
        enableEscapeProcessing enablePacketDebug enableQueryTimeouts explainSlowQueries failOverReadOnly
        fallbackToSystemKeyStore fallbackToSystemTrustStore fipsCompliantJsse forceConnectionTimeZoneToSession
        functionsNeverReturnBlobs gatherPerfMetrics generateSimpleParameterMetadata getProceduresReturnsFunctions
        holdResultsOpenOverStatementClose ignoreNonTxTables includeInnodbStatusInDeadlockExceptions
        includeThreadDumpInDeadlockExceptions includeThreadNamesAsStatementComment initialTimeout interactiveClient
        jdbcCompliantTruncation largeRowSizeThreshold loadBalanceAutoCommitStatementThreshold
        loadBalanceBlocklistTimeout loadBalanceConnectionGroup loadBalanceHostRemovalGracePeriod loadBalancePingTimeout
        loadBalanceSQLStateFailover loadBalanceValidateConnectionOnSwapServer localSocketAddress locatorFetchBufferSize
        logSlowQueries logXaCommands maintainTimeStats maxAllowedPacket maxByteArrayAsHex maxQuerySizeToLog
        maxReconnects maxRows metadataCacheSize netTimeoutForStreamingResults noAccessToProcedureBodies
        noDatetimeStringSync nullCatalogMeansCurrent nullDatabaseMeansCurrent openTelemetry
        overrideSupportsIntegrityEnhancementFacility packetDebugBufferSize padCharsWithSpace paranoid
        passwordCharacterEncoding pedantic pinGlobalTxToPhysicalConnection populateInsertRowWithDefaultValues
        prepStmtCacheSize prepStmtCacheSqlLimit preserveInstants processEscapeCodesForPrepStmts profileSQL
        queriesBeforeRetrySource queryTimeoutKillsConnection readFromSourceWhenNoReplicas readOnlyPropagatesToServer
        reconnectAtTxEnd replicationConnectionGroup reportMetricsIntervalMillis requireSSL resourceId
        resultSetSizeThreshold retriesAllDown rewriteBatchedStatements rollbackOnPooledClose scrollTolerantForwardOnly
        secondsBeforeRetrySource selfDestructOnPingMaxOperations selfDestructOnPingSecondsLifetime
        sendFractionalSeconds sendFractionalSecondsForTime serverAffinityOrder serverRSAPublicKeyFile serverSslCert
        serverTimezone sessionVariables slowQueryThresholdMillis slowQueryThresholdNanos socketTimeout socksProxyHost
        socksProxyPort socksProxyRemoteDns sslCa sslMode strictUpdates tcpKeepAlive tcpNoDelay tcpRcvBuf tcpSndBuf
        tcpTrafficClass tinyInt1isBit tlsCiphersuites tlsVersions traceProtocol trackSessionState
        transformedBitIsBoolean treatMysqlDatetimeAsTimestamp treatUtilDateAsTimestamp
        trustCertificateKeyStorePassword trustCertificateKeyStoreType trustCertificateKeyStoreUrl useAffectedRows
        useColumnNamesInFindColumn useCompression useCursorFetch useHostsInPrivileges useInformationSchema
        useLegacyDatetimeCode useLocalSessionState useLocalTransactionState useNanosForElapsedTime
        useOldAliasMetadataBehavior useOnlyServerErrorMessages useReadAheadInput useServerPrepStmts useSSL
        useStreamLengthsInPrepStmts useUnbufferedInput useUnicode useUsageAdvisor verifyServerCertificate
        yearIsDateType zeroDateTimeBehavior
    """,
    "mariadb": """
        address host port type user
        allowMultiQueries allowPublicKeyRetrieval autocommit autoReconnect blankTableNameMeta cachePrepStmts
        characterEncoding connectionAttributes connectionCollation connectionTimeZone connectTimeout
        createDatabaseIfNotExist defaultFetchSize disablePipeline disableSslHostnameVerification
        disconnectOnExpiredPasswords dumpQueriesOnException enabledSslCipherSuites enabledSslProtocolSuites
        fallbackToSystemKeyStore fallbackToSystemTrustStore forceConnectionTimeZoneToSession galeraAllowedState
        geometryDefaultType includeInnodbStatusInDeadlockExceptions includeThreadDumpInDeadlockExceptions
        jdbcCompliantTruncation keyPassword keyStore keyStorePassword keyStoreType localSocket localSocketAddress
        maxAllowedPacket maxIdleTime maxPoolSize maxQuerySizeToLog minPoolSize nullDatabaseMeansCurrent
        oldModeNoPrecisionTimestamp permitNoResults permitRedirect pinGlobalTxToPhysicalConnection pipe pool poolName
        poolValidMinDelay prepStmtCacheSize preserveInstants registerJmxPool restrictedAuth retriesAllDown
        returnMultiValuesGeneratedIds rewriteBatchedStatements serverRsaPublicKeyFile serverSslCert serverTimezone
        servicePrincipalName sessionVariables socketTimeout sslCa sslMode tcpAbortiveClose tcpKeepAlive tcpKeepCount
        tcpKeepIdle tcpKeepInterval timezone tinyInt1isBit tlsSocketType transactionIsolation transactionReplay
        transactionReplaySize transformedBitIsBoolean trustServerCertificate trustStore trustStorePassword
        trustStoreType useAffectedRows useBulkStmts useBulkStmtsForInserts useCatalogTerm useCompression
        useLegacyDatetimeCode useLocalSessionState useMysqlMetadata useReadAheadInput useResetConnection
        useServerPrepStmts useSSL useUnicode uuidAsString yearIsDateType zeroDateTimeBehavior
    """,
    "sqlite": """
        analysis_limit application_id busy_timeout cache cache_size case_sensitive_like date_precision
        date_string_format default_cache_size defer_foreign_keys encoding foreign_keys fullsync hexkey_mode immutable
        incremental_vacuum jdbc.explicit_readonly jdbc.get_generated_keys journal_mode journal_size_limit
        legacy_alter_table legacy_file_format limit_attached limit_column limit_compound_select limit_expr_depth
        limit_function_arg limit_length limit_like_pattern_length limit_page_count limit_sql_length
        limit_trigger_depth limit_variable_number limit_vdbe_op limit_worker_threads locking_mode max_page_count
        mmap_size mode nolock open_mode page_size psow read_uncommitted recursive_triggers reverse_unordered_selects
        secure_delete shared_cache short_column_names synchronous temp_store transaction_mode user_version
    """,
    "derby": """
        bootPassword collation create databaseName dataEncryption encryptionAlgorithm encryptionKey
        encryptionKeyLength retrieveMessageText securityMechanism ssl territory upgrade user
    """,
    "h2": """
        access_mode_data allow_literals auto_reconnect auto_server cache_size cache_type case_insensitive_identifiers
        cipher collation compress database_to_lower database_to_upper db_close_delay db_close_on_exit
        default_lock_timeout default_null_ordering file_lock forbid_creation ifexists ignorecase
        ignore_unknown_settings lazy_query_execution lock_timeout mode mv_store non_keywords old_information_schema
        page_size query_cache_size query_timeout retention_time schema schema_search_path throttle timezone
        user variable_binary write_delay zero_based_enums
    """,
}
"""By subprotocol: parameters of the drivers (and of the sinks, which read the same URLs) that do no harm."""

_NAMES_ALLOWED = {subprotocol: frozenset(text.lower().split()) for subprotocol, text in _ALLOWED.items()}
_STORES = re.compile(r"(?:keystore|truststore)(?:url)?$")
_LOCAL = re.compile(r"file:(?!//[^/]).*|(?![a-z][a-z0-9+.-]+:).*", re.IGNORECASE | re.DOTALL)
"""A file, as URL or as path."""

_OPTIONS_OF_SPARK = """
    batchsize cascadeTruncate connectionProvider createTableColumnTypes createTableOptions customSchema dbtable
    driver fetchsize hint isolationLevel keytab lowerBound numPartitions partitionColumn preferTimestampNanos
    preferTimestampNTZ prepareQuery principal pushDownAggregate pushDownJoin pushDownLimit pushDownOffset
    pushDownPredicate pushDownTableSample query queryTimeout refreshKrb5Config sessionInitStatement tableComment
    truncate upperBound url
"""
"""Names that Spark's JDBC reader takes for options of its own: no driver would see them."""

_SPARK = frozenset(_OPTIONS_OF_SPARK.lower().split())

_PROVIDERS = ("oracle.jdbc.provider.", "xdevapi.")
_CREDENTIALS = frozenset({"password", "password1", "password2", "password3", "passwd", "pwd"})

_NAME = re.compile(r"([^?&;:,()\[\]{}/#@=]+)=")


def is_refused(name: str) -> bool:
    """Whether a parameter of that name could load code, touch files or unpack objects. Case does not matter."""
    found = _plain(name)
    return found in _NAMES or found.startswith(_PROVIDERS) or _CLASSES.search(found) is not None


def is_allowed(subprotocol: str, name: str) -> bool:
    """Whether a database takes a parameter of that name; of a database that is not known here: whether it is harmless.

    :param subprotocol: of the URL, lower case.
    """
    known = _NAMES_ALLOWED.get(subprotocol)
    return not is_refused(name) and (known is None or _plain(name) in known)


def is_option_of_spark(name: str) -> bool:
    """Whether Spark's JDBC reader would keep a property of that name for itself."""
    return _plain(name) in _SPARK


def is_remote_store(name: str, value: str) -> bool:
    """Whether a parameter lets the driver fetch its keys or certificates from somewhere else than a file."""
    return _STORES.search(_plain(name)) is not None and not _LOCAL.fullmatch(decoded(value).strip())


def is_password(name: str) -> bool:
    """Whether a parameter of that name holds the password of the connection."""
    return _plain(name) in _CREDENTIALS


def names_in(text: str) -> Iterable[str]:
    """All that may be the name of a parameter in a URL, whatever the syntax of its database, as it is written there.

    Drivers differ in what begins and ends a parameter (`?a=b&c=d`, `;a=b`, `(a=b)(c=d)`, `(a=b,c=d)`), and some have
    been made to see one where others saw none. All that stands before an equals sign is taken for a name, in the text
    as it is and with percent signs decoded.
    """
    for form in dict.fromkeys((text, decoded(text))):
        yield from (match[1].strip() for match in _NAME.finditer(form))


def decoded(text: str) -> str:
    """The text without percent-encoding, however often it was encoded."""
    while (once := unquote_plus(text)) != text and "%" in text:
        text = once
    return text


def _plain(name: str) -> str:
    # Java's upper case of a dotless i is I: H2 reads such a name as INIT, and drops backslashes.
    return re.sub(r"[\\\s\x00-\x20]", "", decoded(name)).upper().lower()
