"""What HDFS does beyond the contract of places: name nodes that fail, rights, logins, and connectors on it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.places.base import Place, PlacedFile
from airflow_kconnect.places.hdfs import client as hdfs_client
from airflow_kconnect.places.hdfs.place import HdfsPlace
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.connectors.plans import plan_context
from tests.support.faults import Exchange, Fault, FaultProxy, cut_request, lose_answer
from tests.support.places import TEXT, read, stage, write
from tests.support.stores import Store

_PART = 1024


@pytest.fixture(scope="module")
def store(store_of: Callable[[str], Store]) -> Store:
    return store_of("hdfs")


@pytest.fixture
def place(store: Store) -> HdfsPlace:
    return opened(store)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs_client, "_PAUSE_S", 0)


def opened(store: Store, folder: str = "", **settings: str) -> HdfsPlace:
    keys = {**store.settings, **{f"store.{key.replace('_', '.')}": text for key, text in settings.items()}}
    place = open_place(f"{store.address}/{folder or unique('place')}", keys)
    assert isinstance(place, HdfsPlace)
    return place


def folder_of(place: Place) -> str:
    return place.at.path


def java_error(kind: str, status: int = 403) -> Fault:
    """An error as name nodes answer with it."""

    def act(exchange: Exchange) -> None:
        exchange.body()
        found = {"exception": kind, "javaClassName": f"org.apache.hadoop.{kind}", "message": "no"}
        exchange.answer(status, json.dumps({"RemoteException": found}).encode())

    return act


def sent_to(url: str) -> Fault:
    """What a name node answers to a request that a data node is to do."""

    def act(exchange: Exchange) -> None:
        exchange.body()
        exchange.answer(307, b"", {"Location": url})

    return act


class TestFiles:
    @pytest.mark.parametrize("name", ["a+b c", "100%", "%2F", "p=1/ä#?&", "a'\"b;"])
    def test_names_are_kept_whatever_is_in_them(self, place: HdfsPlace, name: str) -> None:
        write(place, name)
        assert [file.name for file in place.files()] == [name]
        assert read(place, name) == TEXT

    def test_large_ones_are_written_in_parts(self, place: HdfsPlace) -> None:
        staging = place.stage("t/a", _PART)
        for number in range(5):
            staging.write(bytes([number]) * _PART)
        place.publish(staging.finish())
        assert read(place) == b"".join(bytes([number]) * _PART for number in range(5))

    def test_one_that_is_replaced_while_it_is_read_is_an_error(self, place: HdfsPlace) -> None:
        write(place, text=b"old")
        file = place.find("t/a")
        assert file is not None
        with place.read(file) as reader:
            write(place, text=b"new")
            with pytest.raises(DataError, match="was replaced or removed"):
                reader.read()

    def test_what_has_replaced_one_since_it_was_looked_at_is_not_removed(
        self, place: HdfsPlace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(place)
        (file,) = place.files()
        has = place.has

        def replaced(file: PlacedFile) -> bool:
            found = has(file)
            write(place, text=b"newer")
            return found

        monkeypatch.setattr(place, "has", replaced)
        assert not place.remove(file)
        assert read(place) == b"newer"

    def test_one_is_removed_though_the_answer_is_lost(self, store: Store) -> None:
        with FaultProxy(store.settings["store.endpoint"]) as proxy:
            place = opened(store.through(proxy.url))
            write(place)
            (file,) = place.files()
            with proxy.fault("DeleteObject", lose_answer):
                assert place.remove(file)
        assert list(place.files()) == []

    def test_those_of_a_files_source_are_read(self, place: HdfsPlace, store: Store) -> None:
        write(place, "in/a.json", b'{"id": 1}\n{"id": 2}\n')
        keys = {"directory": place.uri("in"), "topic": "t", "format": "json", "input.file.pattern": r".*\.json"}
        source = FilesSourceConnector({**keys, **store.settings})
        source.check()
        plan = source.plan(plan_context())
        batches = source.batches([(n, split, split.start) for n, split in enumerate(plan.splits)]).read(0)
        assert sum(batch.num_rows for batch in batches) == 2


class TestFencing:
    def test_who_still_writes_what_a_newer_run_has_removed_gets_an_error(self, place: HdfsPlace) -> None:
        staging = place.stage("t/a", _PART)
        staging.write(b"1" * _PART)
        for left in opened_again(place).staged():
            place.discard(left)
        with pytest.raises(FencedError, match="another run of this connector has removed it"):
            staging.write(b"2" * _PART)
        assert [*place.files(hidden=True)] == []

    def test_who_has_written_all_gets_it_at_the_end(self, place: HdfsPlace) -> None:
        staging = place.stage("t/a", _PART)
        staging.write(b"1" * _PART)
        for left in place.staged():
            place.discard(left)
        with pytest.raises(FencedError):
            staging.finish()


def opened_again(place: HdfsPlace) -> HdfsPlace:
    return HdfsPlace(place.at, place._settings)


class TestNameNodes:
    def test_one_that_is_not_active_is_not_asked_again(self, store: Store, proxy: FaultProxy) -> None:
        place = opened(store, endpoint=f"{proxy.url},{store.settings['store.endpoint']}")
        with proxy.fault("*", java_error("StandbyException"), times=100):
            write(place)
            asked = len(proxy.seen)
            assert read(place) == TEXT
        assert len(proxy.seen) == asked

    def test_one_that_is_down_is_left_out(self, store: Store) -> None:
        place = opened(store, endpoint=f"http://{LOOPBACK}:{free_port()},{store.settings['store.endpoint']}")
        place.check()
        write(place)

    def test_a_lost_answer_to_a_rename_is_none_to_lose_a_file(self, store: Store, proxy: FaultProxy) -> None:
        place = opened(store, endpoint=proxy.url)
        file = stage(place)
        with proxy.fault("*", lose_answer):
            place.publish(file)
        assert read(place) == TEXT

    def test_bytes_that_may_have_arrived_are_not_sent_again(self, store: Store, proxy: FaultProxy) -> None:
        place = opened(store, endpoint=proxy.url)
        staging = place.stage("t/a", _PART)
        asked = len(proxy.seen)
        with proxy.fault("*", sent_to(proxy.url)), proxy.fault("*", cut_request), pytest.raises(RetriableError):
            staging.write(b"1" * _PART)
        assert len(proxy.seen) == asked + 2
        staging.abort()
        assert list(place.staged()) == []

    @pytest.mark.parametrize(
        ("kind", "text"),
        [
            ("StandbyException", "none of its name nodes is active"),
            ("SafeModeException", "safe mode"),
            ("DSQuotaExceededException", "quota of space"),
            ("IOException", "check the cluster"),
        ],
    )
    def test_what_passes_is_an_error_to_try_again(self, store: Store, proxy: FaultProxy, kind: str, text: str) -> None:
        place = opened(store, endpoint=proxy.url)
        with proxy.fault("*", java_error(kind), times=100), pytest.raises(RetriableError, match=text):
            place.stage("t/a")

    def test_without_any_the_check_says_so(self, store: Store) -> None:
        with pytest.raises(RetriableError, match="reachable from here"):
            opened(store, endpoint=f"http://{LOOPBACK}:{free_port()}").check()


class TestLogins:
    def test_a_user_without_the_right_to_write_is_named_before_a_run(self, store: Store, place: HdfsPlace) -> None:
        write(place)
        with pytest.raises(ConfigError, match=r"Permission denied: user=stranger.*give the user of `store.user`"):
            opened(store, folder_of(place), user="stranger").check()

    def test_such_a_user_cannot_write_either(self, store: Store, place: HdfsPlace) -> None:
        write(place)
        with pytest.raises(DataError, match="Permission denied: user=stranger"):
            opened(store, folder_of(place), user="stranger").stage("t/a")

    def test_it_reads_what_all_may_read(self, store: Store, place: HdfsPlace) -> None:
        write(place)
        assert read(opened(store, folder_of(place), user="stranger")) == TEXT

    def test_a_token_is_sent_in_place_of_a_user_and_not_logged(
        self, store: Store, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
    ) -> None:
        asked: list[str] = []

        def note(exchange: Exchange) -> None:
            asked.append(exchange.handler.path)
            exchange.answer(*exchange.forward())

        place = opened(store, endpoint=proxy.url, delegation_token="t0ken")
        with caplog.at_level(logging.INFO), proxy.fault("*", note):
            assert place.find("t/a") is None
        assert [path.partition("?")[2] for path in asked] == ["op=GETFILESTATUS&delegation=t0ken"]
        assert "t0ken" not in caplog.text

    def test_a_token_that_has_expired_is_named(self, store: Store, proxy: FaultProxy) -> None:
        place = opened(store, endpoint=proxy.url, delegation_token="t0ken")
        with proxy.fault("*", java_error("InvalidToken")), pytest.raises(ConfigError) as caught:
            place.check()
        assert "get a new token for `store.delegation.token`" in str(caught.value)
        assert "t0ken" not in str(caught.value)

    def test_a_folder_below_a_file_is_refused(self, store: Store, place: HdfsPlace) -> None:
        write(place)
        with pytest.raises(ConfigError, match="t/a is a file"):
            opened(store, f"{folder_of(place)}/t/a/b").check()

    def test_a_server_without_webhdfs_is_named(self, store: Store, proxy: FaultProxy) -> None:
        def unknown(exchange: Exchange) -> None:
            exchange.answer(404, b"<html>")

        with proxy.fault("*", unknown), pytest.raises(ConfigError, match="no WebHDFS answers there"):
            opened(store, endpoint=proxy.url).check()
