"""Who may come in at a driver's ports: those who prove the run's secret, in time and not too many at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from multiprocessing.connection import Client, Connection, Listener

import pytest

from airflow_kconnect.credentials.door import Door
from tests.support.kafka import eventually

KEY = b"key"
MOST = 3


class Server:
    """Admits those who know the key."""

    def __init__(self) -> None:
        self.door = Door(KEY, most=MOST, within_s=1)
        self.listener = Listener(("127.0.0.1", 0), backlog=50)
        self.admitted, self.refused = list[Connection](), list[str]()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                self.door.receive(self.listener.accept, self._answer, "test-door")
        except OSError:
            return

    def _answer(self, connection: Connection) -> None:
        try:
            self.door.prove(connection)
        except Exception as error:
            self.refused.append(type(error).__name__)
            connection.close()
        else:
            self.admitted.append(connection)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.listener.close()


def threads() -> int:
    return sum(thread.name == "test-door" for thread in threading.enumerate())


def test_callers_who_say_nothing_are_cut_off_and_few_of_them_have_a_thread(server: Server) -> None:
    silent = [socket.create_connection(server.listener.address) for _ in range(10)]
    eventually(threads, MOST)
    dripping = silent[0]
    dripping.send(b"\0")  # it begins a message, and never ends it
    with Client(server.listener.address, authkey=KEY):
        eventually(lambda: len(server.admitted), 1)
    assert threads() <= MOST
    eventually(lambda: len(server.refused), len(silent))
    for each in silent:
        each.close()


def test_one_who_was_admitted_may_be_silent(server: Server) -> None:
    with Client(server.listener.address, authkey=KEY) as client:
        eventually(lambda: len(server.admitted), 1)
        eventually(threads, 0)
        assert not client.poll(1.2)  # longer than a proof may take
        server.admitted[0].send_bytes(b"hello")
        assert client.recv_bytes() == b"hello"


def test_one_with_another_key_is_refused(server: Server) -> None:
    with pytest.raises(Exception, match="digest"):
        Client(server.listener.address, authkey=b"another")
    eventually(lambda: server.refused, ["AuthenticationError"])
