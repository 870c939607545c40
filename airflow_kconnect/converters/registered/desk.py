"""Tasks ask the driver for the ids of schemas: only the driver reaches the registry, and only for data that exist.

A task asks once for each shape and topic. The connection proves a secret that only the run's tasks have.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from airflow_kconnect.connect.errors import ConnectError, DataError, InternalError, RetriableError, in_one_line
from airflow_kconnect.credentials.door import PROOF_S, Door
from airflow_kconnect.registry.schema import RegisteredSchema

_WAITING_MAX = 128
"""Tasks that may connect at once: all of a stage begin together."""
_log = logging.getLogger(__name__)

Resolve = Callable[[int, str], tuple[bytes, RegisteredSchema]]
"""Called in the driver with the index of a shape and a topic; returns the schema to write with, and before it what
stands before payloads to name it."""


@dataclass(frozen=True)
class DeskAddress:
    """Where tasks ask; pickled into them."""

    host: str
    port: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True)
class Assigned:
    """The driver's answer.

    :param name: what stands before payloads, and names the schema; None if the registry rejects it.
    :param problem: why, in that case.
    """

    name: bytes | None
    schema: RegisteredSchema | None = None
    problem: str = ""


class Desk:
    """The driver's side: answers until it is closed.

    :param host: the driver's address, as tasks reach it.
    :param resolve: may raise: a `DataError` is the problem of the records, other errors are those of the run.
    """

    def __init__(self, host: str, resolve: Resolve) -> None:
        self._resolve = resolve
        self.failure: ConnectError | None = None
        """Why tasks were told to stop, if they were."""
        secret = secrets.token_bytes(32)
        # Without a key of its own: it would wait for each proof before it accepts the next connection, so that one
        # that says nothing, such as a port scanner's, would stop all tasks.
        self._listener = _listener(host)
        self.address = DeskAddress(host, self._listener.address[1], secret)
        self._door = Door(secret, most=_WAITING_MAX, within_s=PROOF_S)
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="schema ids", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        if self._closed:
            return
        self._closed = True
        with suppress(OSError):  # wakes the thread, which nothing else does
            socket.create_connection(self._listener.address, timeout=1).close()
        self._thread.join(timeout=1)
        self._listener.close()

    def _serve(self) -> None:
        while not self._closed:
            try:
                self._door.receive(self._listener.accept, self._answer, "schema id")
            except OSError as error:
                _log.warning("a connection for schema ids was not accepted: %s", in_one_line(error))

    def _answer(self, connection: Connection) -> None:
        with connection:
            try:
                self._door.prove(connection)
                shape, topic = json.loads(connection.recv_bytes(65_536))
                connection.send_bytes(json.dumps(self._answered(int(shape), str(topic))).encode())
            except (OSError, EOFError, ValueError, TypeError, AuthenticationError):
                return  # the task has ended, or will ask again; or it is none of this run

    def _answered(self, shape: int, topic: str) -> dict[str, object]:
        try:
            name, schema = self._resolve(shape, topic)
            return {"name": name.hex(), "schemas": _to_json(schema)}
        except DataError as error:
            return {"problem": str(error)}
        except ConnectError as error:
            return self._failed(error)
        except Exception as error:
            _log.exception("unexpected error")
            return self._failed(InternalError(in_one_line(error)))

    def _failed(self, error: ConnectError) -> dict[str, object]:
        self.failure = self.failure or error
        return {"failure": str(error)}


def _listener(host: str) -> Listener:
    try:
        return Listener((host, 0), backlog=_WAITING_MAX)
    except OSError:  # the address by which executors reach the driver may not be one of this machine (NAT)
        return Listener(("", 0), backlog=_WAITING_MAX)


def ask(address: DeskAddress, shape: int, topic: str) -> Assigned:
    """The task's side.

    :raises RetriableError: the driver does not answer, or the run cannot continue; it says why itself.
    """
    try:
        with Client((address.host, address.port), authkey=address.secret) as connection:
            connection.send_bytes(json.dumps([shape, topic]).encode())
            answer = json.loads(connection.recv_bytes())
    except (OSError, EOFError, ValueError) as error:
        raise RetriableError(f"The driver does not answer: {in_one_line(error)}") from error
    if "failure" in answer:
        raise RetriableError(answer["failure"])
    if "problem" in answer:
        return Assigned(None, problem=answer["problem"])
    return Assigned(bytes.fromhex(answer["name"]), _from_json(answer["schemas"]))


def _to_json(schema: RegisteredSchema) -> list[dict[str, Any]]:
    """Each schema once, after those that it refers to: there may be far more ways to them."""
    schemas = list(dict.fromkeys([*(other for _, other in schema.referred()), schema]))
    numbers = {each: number for number, each in enumerate(schemas)}
    return [
        {
            "type": each.type,
            "text": each.text,
            "references": [(name, numbers[other]) for name, other in each.references],
        }
        for each in schemas
    ]


def _from_json(texts: list[dict[str, Any]]) -> RegisteredSchema:
    schemas: list[RegisteredSchema] = []
    for each in texts:
        references = tuple((name, schemas[number]) for name, number in each["references"])
        schemas.append(RegisteredSchema(each["type"], each["text"], references))
    return schemas[-1]
