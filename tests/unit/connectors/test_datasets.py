"""Files and folders as lineage names them."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.connectors.file.sink import FileStreamSinkConnector
from airflow_kconnect.connectors.file.source import FileStreamSourceConnector
from airflow_kconnect.connectors.verifiable.sink import VerifiableSinkConnector

LAKE = {"directory": "/lake", "topics": "a,b"}
RUN = {"topics": ["c"], "replay": None}
REPLAY = {"topics": ["c"], "replay": "begin/end"}


@pytest.mark.parametrize(
    ("connector", "props", "report", "names"),
    [
        pytest.param(FileStreamSourceConnector, {"file": "/in"}, None, ["/in"], id="a file"),
        pytest.param(FileStreamSourceConnector, {"files": "/in"}, None, ["/in"], id="a folder"),
        pytest.param(FileStreamSourceConnector, {"files": "/in/2*/**/x.csv"}, None, ["/in"], id="a pattern"),
        pytest.param(FileStreamSinkConnector, {"file": "/out"}, None, ["/out"], id="an output file"),
        pytest.param(FileStreamSinkConnector, {}, None, [], id="standard output"),
        pytest.param(DirectorySinkConnector, LAKE, None, ["/lake/a", "/lake/b"], id="topics that are named"),
        pytest.param(DirectorySinkConnector, LAKE, RUN, ["/lake/c"], id="topics of a run"),
        pytest.param(DirectorySinkConnector, LAKE, REPLAY, ["/lake/_replays"], id="a replay"),
        pytest.param(VerifiableSinkConnector, {}, RUN, [], id="no data outside Kafka"),
    ],
)
def test_names(connector: type[Connector], props: dict[str, str], report: Any, names: list[str]) -> None:
    assert [(dataset.namespace, dataset.name) for dataset in connector.datasets(props, report)] == [
        ("file", name) for name in names
    ]
