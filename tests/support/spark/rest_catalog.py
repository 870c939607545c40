"""An Iceberg REST catalog: Iceberg's own handlers in the JVM of the tests, served by Python, which can make it fail."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.catalogs.logins import PATH as TOKENS
from tests.support.catalogs.logins import Logins

_CODES = {
    "NoSuchTableException": 404,
    "NoSuchNamespaceException": 404,
    "AlreadyExistsException": 409,
    "CommitFailedException": 409,
    "ValidationException": 400,
}
_NAMESPACES = re.compile(r"/v1/namespaces(?:/([^/]+))?")
_TABLES = re.compile(r"/v1/namespaces/([^/]+)/tables(?:/([^/]+))?")

Failure = Callable[[str, str], int | None]
"""The status to answer a method and a path with, before anything is done; None: it is done."""


class RestCatalog:
    """Tables are in a folder.

    :ivar fails: see `Failure`.
    :ivar loses_answers: requests that change a table are carried out, and answered with 503.
    :ivar logins: whom tokens are issued to; None: requests need none.
    :ivar vended: keys of the tables' store, for clients that ask for them.
    """

    def __init__(self, spark: SparkSession, warehouse: Path | str, **conf: str) -> None:
        """:param conf: Iceberg's settings of a store; without them tables are files of this machine."""
        assert spark._jvm is not None
        self._java: Any = spark._jvm
        self._gateway: Any = spark.sparkContext._gateway
        self._iceberg = self._java.org.apache.iceberg
        self._catalog = self._new_catalog(spark, str(warehouse), conf)
        self._mapper = self._new_mapper()
        self.fails: Failure = lambda method, path: None
        self.loses_answers = False
        self.logins: Logins | None = None
        self.vended: dict[str, str] = {}
        self._io = conf.get("io-impl", "org.apache.iceberg.hadoop.HadoopFileIO")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def conf(self) -> dict[str, str]:
        """Settings of Spark's catalog, without their prefix."""
        return {
            "": "org.apache.iceberg.spark.SparkCatalog",
            "type": "rest",
            "uri": f"http://127.0.0.1:{self._server.server_port}",
            "io-impl": self._io,
            "rest.client.max-retries": "1",
        }

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: str) -> tuple[int, str]:
        """Status and JSON."""
        if (status := self.fails(method, path)) is not None:
            return status, _error("Injected", "as the test wants it", status)
        if self.logins is not None:
            if path == TOKENS:
                return self.logins.answer(headers, body)
            if (text := self.logins.refusal(headers)) is not None:
                return 401, _error("NotAuthorizedException", text, 401)
        try:
            found = self._found(method, path, body)
        except (Py4JJavaError, PySparkException) as error:
            return self._refusal(error)
        if self.vended and headers.get("X-Iceberg-Access-Delegation") == "vended-credentials" and found:
            found = json.dumps({**json.loads(found), "config": self.vended})
        if self.loses_answers and method == "POST" and _TABLES.fullmatch(path):
            return 503, _error("Injected", "the answer was lost", 503)
        return (204, "") if found is None else (200, found)

    def _found(self, method: str, path: str, body: str) -> str | None:
        if path == "/v1/config":
            return json.dumps({"defaults": {}, "overrides": {}})
        if match := _TABLES.fullmatch(path):
            return self._of_tables(method, self._namespace(match[1]), match[2], body)
        if match := _NAMESPACES.fullmatch(path):
            return self._of_namespaces(method, match[1], body)
        return None  # metrics

    def _of_namespaces(self, method: str, name: str | None, body: str) -> str:
        handlers = self._iceberg.rest.CatalogHandlers
        if method == "POST":
            return self._json(handlers.createNamespace(self._catalog, self._read(body, "CreateNamespaceRequest")))
        return self._json(handlers.loadNamespace(self._catalog, self._namespace(name or "")))

    def _of_tables(self, method: str, namespace: Any, name: str | None, body: str) -> str | None:
        handlers = self._iceberg.rest.CatalogHandlers
        if name is None:
            request = self._read(body, "CreateTableRequest")
            return self._json(handlers.createTable(self._catalog, namespace, request))
        identifier = self._iceberg.catalog.TableIdentifier.of(namespace, unquote(name))
        if method == "POST":
            return self._json(handlers.updateTable(self._catalog, identifier, self._read(body, "UpdateTableRequest")))
        if method == "DELETE":
            handlers.dropTable(self._catalog, identifier)
            return None
        metadata = self._catalog.loadTable(identifier).operations().current()
        response = self._iceberg.rest.responses.LoadTableResponse.builder()
        return self._json(response.withTableMetadata(metadata).build())

    def _namespace(self, text: str) -> Any:
        levels = unquote(text).split("\x1f")
        array = self._gateway.new_array(self._java.java.lang.String, len(levels))
        for index, level in enumerate(levels):
            array[index] = level
        return self._iceberg.catalog.Namespace.of(array)

    def _json(self, response: Any) -> str:
        return str(self._mapper.writeValueAsString(response))

    def _read(self, body: str, name: str) -> Any:
        return self._mapper.readValue(body, self._class(f"org.apache.iceberg.rest.requests.{name}"))

    def _class(self, name: str) -> Any:
        return self._java.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)

    def _new_catalog(self, spark: SparkSession, warehouse: str, conf: Mapping[str, str]) -> Any:
        if not conf:
            return self._iceberg.hadoop.HadoopCatalog(spark._jsparkSession.sessionState().newHadoopConf(), warehouse)
        catalog = self._iceberg.inmemory.InMemoryCatalog()
        catalog.initialize("served", {**conf, "warehouse": warehouse})
        return catalog

    def _new_mapper(self) -> Any:
        jackson = self._iceberg.shaded.com.fasterxml.jackson
        mapper = jackson.databind.ObjectMapper()
        visibility = jackson.annotation
        mapper.setVisibility(visibility.PropertyAccessor.FIELD, getattr(visibility, "JsonAutoDetect$Visibility").ANY)
        mapper.setPropertyNamingStrategy(getattr(jackson.databind, "PropertyNamingStrategies$KebabCaseStrategy")())
        self._iceberg.rest.RESTSerializers.registerAll(mapper)
        return mapper

    def _refusal(self, error: BaseException) -> tuple[int, str]:
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        name, text = ("", str(error)) if java is None else (java.getClass().getSimpleName(), java.getMessage())
        code = _CODES.get(name, 500)
        return code, _error(name, text, code)


def _error(kind: str, text: str, code: int) -> str:
    return json.dumps({"error": {"type": kind, "message": text, "code": code}})


def _handler(catalog: RestCatalog) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            status, text = catalog.answer(self.command, urlsplit(self.path).path, dict(self.headers.items()), body)
            encoded = b"" if self.command == "HEAD" else text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        do_POST = do_DELETE = do_HEAD = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Handler
