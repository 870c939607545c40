"""HDFS: answers that a cluster as it should be does not give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.places.base import Place, StagedFile
from airflow_kconnect.places.registry import open_place

Answer = Callable[[httpx.Request], httpx.Response]
Opened = Callable[[Answer], Place]
_FOLDER = {"pathSuffix": "", "type": "DIRECTORY"}
_LOGIN_PAGE = httpx.Response(302, headers={"Location": "https://sso.example.com/login"})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """A folder in a cluster that answers as a function says."""

    def open_(answer: Answer) -> Place:
        monkeypatch.setattr(httpx, "Client", partial(httpx.Client, transport=httpx.MockTransport(answer)))
        return open_place("hdfs://nn.example.com:8020/raw", {})

    return open_


def cluster(folder: dict[str, Any], *, decodes_twice: bool = False) -> Answer:
    """A cluster that has the folder `/raw` alone."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/webhdfs/v1")
        if request.url.params["op"] == "CHECKACCESS":
            return httpx.Response(200)
        if path == "/raw":
            return httpx.Response(200, json={"FileStatus": folder})
        named = path.replace("+", " ") if decodes_twice else path
        error = {"exception": "FileNotFoundException", "message": f"File does not exist: {named}"}
        return httpx.Response(404, json={"RemoteException": error})

    return answer


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, text="<html>Welcome</html>"), httpx.Response(200, json={}), _LOGIN_PAGE]
)
def test_what_is_no_webhdfs_is_an_error_of_the_endpoint(opened: Opened, answer: httpx.Response) -> None:
    with pytest.raises(ConfigError, match=r"no WebHDFS answers there .* check `store.endpoint`"):
        opened(lambda _: answer).check()


def test_a_file_is_not_begun_where_no_data_node_is_named(opened: Opened) -> None:
    with pytest.raises(DataError, match="no WebHDFS answers there"):
        opened(lambda _: httpx.Response(200)).stage("t/a")


def test_a_rename_that_is_sent_on_to_a_page_for_logging_in_was_not_done(opened: Opened) -> None:
    """Offsets would be committed for a file that is not there."""
    with pytest.raises(DataError, match="HTTP status 302"):
        opened(lambda _: _LOGIN_PAGE).publish(StagedFile("t/a", 1, {"hidden": "t/.a.tmp", "version": "1@1"}))


@pytest.mark.parametrize("facts", [{}, {"ecPolicy": "replication"}])
def test_a_folder_whose_files_have_replicas_is_used(opened: Opened, facts: dict[str, str]) -> None:
    opened(cluster(_FOLDER | facts)).check()


def test_a_folder_with_erasure_coding_is_refused_before_a_run_plans(opened: Opened) -> None:
    with pytest.raises(ConfigError, match=r"hdfs://nn.example.com:8020/raw has erasure coding"):
        opened(cluster(_FOLDER | {"ecPolicy": "RS-6-3-1024k"})).check()


def test_a_cluster_that_takes_a_plus_for_a_blank_is_refused(opened: Opened) -> None:
    """Files would be there under other names than those that the next run looks for."""
    with pytest.raises(ConfigError, match=r"takes `\+` in names for a blank"):
        opened(cluster(_FOLDER, decodes_twice=True)).check()
