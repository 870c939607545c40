"""Amazon's Glue, as far as catalogs of tables ask it: databases and tables with versions, in memory."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK
from tests.support import unique

Json = dict[str, Any]

_KEY = re.compile(r"Credential=([^/]+)/")


class GlueError(Exception):
    """An answer of Glue's, by the name of its exception."""


class GlueServer:
    """Use `start`, and `stop` when it is not needed any more.

    :ivar key: the access key that requests are signed with: others are refused. Signatures are not compared.
    :ivar before_update: called when a request to change a table has arrived, before its version is compared.
    :ivar loses_answers: changes of tables are carried out, and answered with 500.
    """

    def __init__(self) -> None:
        self.key = unique("key")
        self.before_update: Callable[[], object] = lambda: None
        self.loses_answers = False
        self._databases: dict[str, Json] = {}
        self._tables: dict[tuple[str, str], Json] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer((LOOPBACK, 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, operation: str, authorization: str, request: Json) -> tuple[int, Json]:
        """Status and JSON."""
        signed = _KEY.search(authorization)
        try:
            if signed is None or signed[1] != self.key:
                raise GlueError("UnrecognizedClientException")
            if operation == "UpdateTable":
                self.before_update()
            with self._lock:
                found = _OPERATIONS[operation](self, request)
            if self.loses_answers and operation == "UpdateTable":
                return 500, {"__type": "InternalServiceException", "Message": "the answer was lost"}
            return 200, found
        except GlueError as error:
            return 400, {"__type": str(error), "Message": f"{operation} of the test: {error}"}

    def _create_database(self, request: Json) -> Json:
        if request["DatabaseInput"]["Name"] in self._databases:
            raise GlueError("AlreadyExistsException")
        self._databases[request["DatabaseInput"]["Name"]] = request["DatabaseInput"]
        return {}

    def _get_database(self, request: Json) -> Json:
        if request["Name"] not in self._databases:
            raise GlueError("EntityNotFoundException")
        return {"Database": self._databases[request["Name"]]}

    def _create_table(self, request: Json) -> Json:
        self._get_database({"Name": request["DatabaseName"]})
        if _of(request) in self._tables:
            raise GlueError("AlreadyExistsException")
        self._store(request, 0)
        return {}

    def _get_table(self, request: Json) -> Json:
        if _of(request) not in self._tables:
            raise GlueError("EntityNotFoundException")
        return {"Table": self._tables[_of(request)]}

    def _get_tables(self, request: Json) -> Json:
        return {"TableList": [table for key, table in self._tables.items() if key[0] == request["DatabaseName"]]}

    def _update_table(self, request: Json) -> Json:
        version = self._get_table(request)["Table"]["VersionId"]
        if request.get("VersionId", version) != version:
            raise GlueError("ConcurrentModificationException")
        self._store(request, int(version) + 1)
        return {}

    def _delete_table(self, request: Json) -> Json:
        self._get_table(request)
        del self._tables[_of(request)]
        return {}

    def _store(self, request: Json, version: int) -> None:
        where = {"DatabaseName": request["DatabaseName"], "VersionId": str(version), "UpdateTime": time.time()}
        self._tables[_of(request)] = {**request["TableInput"], **where}


_OPERATIONS = {
    "CreateDatabase": GlueServer._create_database,
    "GetDatabase": GlueServer._get_database,
    "CreateTable": GlueServer._create_table,
    "GetTable": GlueServer._get_table,
    "GetTables": GlueServer._get_tables,
    "UpdateTable": GlueServer._update_table,
    "DeleteTable": GlueServer._delete_table,
}


def _of(request: Json) -> tuple[str, str]:
    return request["DatabaseName"], request.get("Name") or request["TableInput"]["Name"]


def _handler(glue: GlueServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            status, found = glue.answer(operation, self.headers.get("Authorization", ""), request)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    return Handler
