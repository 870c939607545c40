"""Counts that tasks send to the driver: real datagrams on the loopback interface."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runtime.process import progress
from airflow_kconnect.runtime.process.progress import ProgressAddress, ProgressMonitor, ProgressSender, emit

HOST = "127.0.0.1"
STRAYS = [b"", b"\xff\xfe", b"hello", b"{}", b"[]", b'["wrong token",0,999,true]', b'["",[],{},0]', b"[" * 500]


@contextmanager
def receiver() -> Iterator[tuple[socket.socket, ProgressAddress]]:
    """A socket that a sender can send to."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((HOST, 0))
        sock.settimeout(2)
        yield sock, ProgressAddress(HOST, sock.getsockname()[1], "token")


def received(sock: socket.socket) -> list[Any]:
    """Everything that has been sent to it."""
    sock.setblocking(False)
    messages = []
    while True:
        try:
            messages.append(json.loads(sock.recv(512)))
        except BlockingIOError:
            return messages


class TestSender:
    def test_a_count_is_sent_with_token_and_split(self) -> None:
        with receiver() as (sock, address):
            ProgressSender(address, 3).send(42)
            assert json.loads(sock.recv(512)) == ["token", 3, 42, False]

    def test_counts_within_the_interval_are_not_sent(self) -> None:
        with receiver() as (sock, address):
            sender = ProgressSender(address, 0, interval_s=60)
            for count in range(1, 100):
                sender.send(count)
            assert [message[2] for message in received(sock)] == [1]

    def test_counts_after_the_interval_are_sent(self) -> None:
        with receiver() as (sock, address):
            sender = ProgressSender(address, 0, interval_s=0)
            sender.send(1)
            sender.send(2)
            assert [message[2] for message in received(sock)] == [1, 2]

    def test_the_end_is_sent_whatever_the_interval(self) -> None:
        with receiver() as (sock, address):
            sender = ProgressSender(address, 0, interval_s=60)
            sender.send(1)
            sender.send(2, done=True)
            assert received(sock)[-1] == ["token", 0, 2, True]

    @pytest.mark.parametrize(
        "address",
        [
            ProgressAddress(HOST, 9, "t"),
            ProgressAddress("no-such-host.invalid", 9, "t"),
            ProgressAddress(HOST, 0, "t"),
        ],
        ids=["no listener", "unknown host", "port 0"],
    )
    def test_an_address_that_cannot_be_reached_is_not_an_error(self, address: ProgressAddress) -> None:
        sender = ProgressSender(address, 0, interval_s=0)
        sender.send(1)
        sender.send(2, done=True)


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress._of_process, "token", "t")


def progress_events(text: str) -> list[dict[str, Any]]:
    return [event for line in text.splitlines() if (event := parse_event(line, "t")) and event["event"] == "progress"]


def wait_for_event(
    capsys: pytest.CaptureFixture[str], count: int | None = None, timeout_s: float = 30
) -> dict[str, Any]:
    """The first event that a monitor prints, or the first with a number of records."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        for event in progress_events(capsys.readouterr().out):
            if count is None or event["records"] == count:
                return event
        time.sleep(0.01)
    raise AssertionError(f"no progress event with {count} records")


class TestMonitor:
    def test_the_counts_of_all_splits_are_added(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 2, interval_s=0.02) as monitor:
            ProgressSender(monitor.address, 0).send(10)
            ProgressSender(monitor.address, 1).send(5)
            assert wait_for_event(capsys, 15)["tasks"] == 2

    def test_a_count_replaces_the_former_one_of_its_split(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 1, interval_s=0.02) as monitor:
            sender = ProgressSender(monitor.address, 0, interval_s=0)
            sender.send(10)
            sender.send(12)
            assert wait_for_event(capsys, 12)

    def test_finished_splits_are_counted_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 2, interval_s=0.02) as monitor:
            sender = ProgressSender(monitor.address, 0)
            sender.send(10, done=True)
            sender.send(11, done=True)
            assert wait_for_event(capsys, 11)["tasks_done"] == 1

    def test_the_expected_number_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 1, expected=99, interval_s=0.02) as monitor:
            ProgressSender(monitor.address, 0).send(1)
            assert wait_for_event(capsys)["expected"] == 99

    def test_two_monitors_have_different_tokens(self) -> None:
        with ProgressMonitor(HOST, 1) as one, ProgressMonitor(HOST, 1) as other:
            assert one.address.token != other.address.token

    def test_strays_are_ignored(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 1, interval_s=0.02) as monitor:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                for stray in STRAYS:
                    sock.sendto(stray, (HOST, monitor.address.port))
            ProgressSender(monitor.address, 0).send(7)
            assert wait_for_event(capsys, 7)["tasks_done"] == 0

    def test_nothing_is_printed_before_the_interval_is_over(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ProgressMonitor(HOST, 1, interval_s=60) as monitor:
            ProgressSender(monitor.address, 0).send(7)
        assert progress_events(capsys.readouterr().out) == []


def test_an_event_is_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    emit("phase", name="planning")
    assert capsys.readouterr().out == 'KCONNECT t {"event":"phase","name":"planning"}\n'
