"""How a driver controls the workers of its run on executors: requests and answers over one connection each.

Only figures and errors pass, as JSON. Both ends prove that they know the key of the run; what an executor must know
besides, secrets among it, comes with Spark's task.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

from airflow_kconnect.connect.error_cells import pack_error, unpack_error
from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.credentials.door import PROOF_S, Door

log = logging.getLogger("kconnect.hosted")

SILENCE_S = 60.0
"""For how long one end may hear nothing from the other."""
_LARGEST = 64 * 1024 * 1024
_DIAL_S = 20.0
_EOF_POLL_S = 0.5

Answer = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Address:
    """Where the driver listens.

    :param host: a name or an address that executors can reach.
    :param key: proves that one belongs to the run.
    """

    host: str
    port: int
    key: bytes = field(repr=False)


class Switchboard:
    """The driver's end: listens on a free port, and hands over each caller that knows the key.

    :param bind: the address to listen on.
    :param host: under which executors reach it.
    :param on_call: called with the line and the caller's first message, in a thread of its own.
    :param proof_s: how long a caller may take to prove that it knows the key.
    """

    def __init__(
        self,
        bind: str,
        host: str,
        key: bytes,
        on_call: Callable[[Line, Mapping[str, Any]], None],
        *,
        proof_s: float = PROOF_S,
    ) -> None:
        self._on_call = on_call
        family = socket.getaddrinfo(bind, 0, type=socket.SOCK_STREAM)[0][0]
        self._socket = socket.create_server((bind, 0), family=family)
        self.address = Address(host, int(self._socket.getsockname()[1]), key)
        self._door = Door(key, within_s=proof_s)
        threading.Thread(target=self._accept, name="hosted-switchboard", daemon=True).start()

    def close(self) -> None:
        """Take no more calls."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        # A caller that says nothing must not keep others out.
        with contextlib.suppress(OSError):  # closed
            while True:
                self._door.receive(lambda: _connection(self._socket.accept()[0]), self._greet, "hosted-call")

    def _greet(self, connection: Connection) -> None:
        try:
            self._door.prove(connection)
            first = _receive(connection)
        except Exception as error:  # it is not of this run
            log.warning("A connection without the key of this run was refused: %s", type(error).__name__)
            connection.close()
            return
        self._on_call(Line(connection), first)


class Line:
    """A connection on which this process asks and the other one answers; several threads may ask."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._lost: str | None = None

    def ask(self, timeout_s: float = SILENCE_S, **request: Any) -> Any:
        """The answer to a request.

        :raises ConnectError: that of the other end. :raises RetriableError: it is gone, or too slow.
        """
        with self._lock:
            return self._ask(request, timeout_s)

    def ask_if_free(self, **request: Any) -> Any:
        """As `ask`, but None if another thread is asking."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._ask(request, SILENCE_S)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Hang up: the other end notices at once."""
        self._lost = self._lost or "the connection was closed"
        with contextlib.suppress(OSError):
            self._connection.close()

    def _ask(self, request: Mapping[str, Any], timeout_s: float) -> Any:
        if self._lost is not None:
            raise RetriableError(self._lost)
        try:
            _send(self._connection, request)
        except OSError:
            raise self._gone("the connection was lost") from None
        return self._answer(timeout_s)

    def _answer(self, timeout_s: float) -> Any:
        try:
            if not self._connection.poll(timeout_s):
                raise self._gone(f"no answer within {timeout_s:.0f} s")
            answer = _receive(self._connection)
        except (OSError, EOFError):
            raise self._gone("the connection was lost") from None
        if "error" in answer:
            raise unpack_error(answer["error"])
        return answer.get("value")

    def _gone(self, why: str) -> RetriableError:
        """A line on which an answer is missing is of no use: the next answer would be taken for it."""
        self._lost = why
        return RetriableError(why)


class Call:
    """An executor's end of the line to its driver.

    :raises RetriableError: the driver cannot be reached, or does not know the key.
    """

    def __init__(self, address: Address) -> None:
        try:
            to_driver = socket.create_connection((address.host, address.port), timeout=_DIAL_S)
            to_driver.settimeout(None)
            self.own_address = str(to_driver.getsockname()[0])
            """The address of this machine on the network of the driver."""
            self._watched = to_driver.dup()
            self._connection = _connection(to_driver)
            answer_challenge(self._connection, address.key)
            deliver_challenge(self._connection, address.key)
        except Exception as error:
            raise RetriableError(
                f"{socket.gethostname()} cannot reach the driver of this run at {address.host}:{address.port}:"
                f" {error or type(error).__name__}. Executors must reach the driver on any port"
            ) from error

    def say(self, **message: Any) -> None:
        """Say something that was not asked for."""
        with contextlib.suppress(OSError):
            _send(self._connection, message)

    def say_error(self, error: ConnectError) -> None:
        """Tell the driver what is wrong at this end."""
        # The driver makes an error of this class again: one that it knows.
        known = next(cls for cls in type(error).__mro__ if cls.__module__ == ConnectError.__module__)
        self.say(error={**pack_error(error), "class": known.__name__})

    def requests(self, answer: Answer, *, until: Container[str]) -> bool:
        """Answer requests until one of these is `do`ne; returns whether one came: otherwise the driver is gone."""
        while True:
            try:
                if not self._connection.poll(SILENCE_S):
                    return False
                request = _receive(self._connection)
            except (OSError, EOFError):
                return False
            try:
                self.say(value=answer(request))
            except ConnectError as error:
                self.say_error(error)
            if request.get("do") in until:
                return True

    def when_lost(self, then: Callable[[], None]) -> None:
        """Call something as soon as the driver is gone, whatever this end is doing."""
        threading.Thread(target=self._watch, args=(then,), name="hosted-watch", daemon=True).start()

    def close(self) -> None:
        """Hang up."""
        for each in (self._connection, self._watched):
            with contextlib.suppress(OSError):
                each.close()

    def _watch(self, then: Callable[[], None]) -> None:
        while self._is_connected():
            time.sleep(_EOF_POLL_S)
        if self._watched.fileno() >= 0:  # it was not closed on this side
            then()

    def _is_connected(self) -> bool:
        try:
            return bool(self._watched.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False


def _connection(of: socket.socket) -> Connection:
    of.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(of.detach())


def _send(connection: Connection, message: Mapping[str, Any]) -> None:
    connection.send_bytes(json.dumps(message).encode())


def _receive(connection: Connection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(connection.recv_bytes(_LARGEST))
    return message
