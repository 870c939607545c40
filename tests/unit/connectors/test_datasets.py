"""Files and folders as lineage names them."""

from __future__ import annotations

from typing import Any

import pytest
from openlineage.client.naming import dataset as naming

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connectors.cloud_storage.azure import AzureBlobStorageSinkConnector
from airflow_kconnect.connectors.cloud_storage.gcs import GcsSinkConnector
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.connectors.file.sink import FileStreamSinkConnector
from airflow_kconnect.connectors.file.source import FileStreamSourceConnector
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.connectors.spooldir.source import SpoolDirAvroSourceConnector
from airflow_kconnect.connectors.verifiable.sink import VerifiableSinkConnector

LAKE = {"directory": "/lake", "topics": "a,b"}
RUN = {"topics": ["c"], "replay": None}
REPLAY = {"topics": ["c"], "replay": "begin/end"}


_FILES = {"topics": "orders", "topics.dir": "raw", "flush.size": "10"}
_S3 = {**_FILES, "s3.bucket.name": "lake", "format.class": "io.confluent.connect.s3.format.json.JsonFormat"}
_GCS = {**_FILES, "gcs.bucket.name": "lake", "format.class": "io.confluent.connect.gcs.format.json.JsonFormat"}
_AZURE = {**_FILES, "azblob.account.name": "shop", "azblob.container.name": "lake"}
_AZURE |= {"format.class": "io.confluent.connect.azure.blob.format.json.JsonFormat"}
_SPOOL = {"input.path": "/raw", "topic": "orders"}
_IN_WASBS = "wasbs://lake@shop.dfs.core.windows.net/raw"
_IN_ABFSS = "abfss://lake@shop.dfs.core.windows.net/raw"


def _sink(directory: str) -> dict[str, str]:
    return {"directory": directory, "topics": "orders"}


def _source(directory: str) -> dict[str, str]:
    return {"directory": directory, "topic": "orders"}


@pytest.mark.parametrize(
    ("connector", "props", "expected"),
    [
        (S3SinkConnector, _S3, naming.S3("lake", "raw/orders")),
        (GcsSinkConnector, _GCS, naming.GCS("lake", "raw/orders")),
        (AzureBlobStorageSinkConnector, _AZURE, naming.ABFSS("lake", "shop", "raw/orders")),
        (DirectorySinkConnector, _sink("s3a://lake/raw"), naming.S3("lake", "raw/orders")),
        (DirectorySinkConnector, _sink("s3://lake"), naming.S3("lake", "orders")),
        (DirectorySinkConnector, _sink("gs://lake/raw/"), naming.GCS("lake", "raw/orders")),
        (DirectorySinkConnector, _sink(_IN_ABFSS), naming.ABFSS("lake", "shop", "raw/orders")),
        (DirectorySinkConnector, _sink("hdfs://names:8020/raw"), naming.HDFS("names", "8020", "/raw/orders")),
        (DirectorySinkConnector, _sink("file:///raw"), naming.LocalFileSystem("/raw/orders")),
        (FilesSourceConnector, _source("s3://lake/raw"), naming.S3("lake", "raw")),
        (FilesSourceConnector, _source("gs://lake/raw"), naming.GCS("lake", "raw")),
        (
            FilesSourceConnector,
            _source(_IN_WASBS),
            naming.ABFSS("lake", "shop", "raw"),
        ),
        (FilesSourceConnector, _source("hdfs://names:8020/raw"), naming.HDFS("names", "8020", "/raw")),
        (FilesSourceConnector, _source("/raw"), naming.LocalFileSystem("/raw")),
        (SpoolDirAvroSourceConnector, _SPOOL, naming.LocalFileSystem("/raw")),
    ],
)
def test_in_stores_names_are_those_of_openlineage(
    connector: type[Connector], props: dict[str, str], expected: naming.DatasetNaming
) -> None:
    (found,) = connector.datasets({"name": "n", **props})
    assert (found.namespace, found.name) == (expected.get_namespace(), expected.get_name())


@pytest.mark.parametrize(
    ("connector", "props", "name"),
    [
        (S3SinkConnector, _S3, "raw/_replays"),
        (DirectorySinkConnector, _sink("s3://lake/raw"), "raw/_replays"),
    ],
)
def test_a_replay_in_a_store_has_its_own(connector: type[Connector], props: dict[str, str], name: str) -> None:
    assert [found.name for found in connector.datasets({"name": "n", **props}, REPLAY)] == [name]


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
