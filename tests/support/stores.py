"""Object stores for tests: servers in this process, with a bucket each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

from airflow_kconnect.local.ports import LOOPBACK, free_port
from tests.support import azurite, unique
from tests.support.faults import Exchange, FaultProxy
from tests.support.google_store import GoogleServer
from tests.support.hdfs import HdfsServer
from tests.support.s3 import S3Server


@dataclass(frozen=True)
class Store:
    """A place in a store of a test.

    :param address: of a bucket, or a folder. :param settings: the keys with which a connector reaches it.
    """

    address: str
    settings: dict[str, str]

    def through(self, url: str) -> Store:
        """The same, reached by a server in front of it."""
        path = urlsplit(self.settings["store.endpoint"]).path
        return replace(self, settings={**self.settings, "store.endpoint": url + path})

    def s3_client(self) -> Any:
        """A client of boto3, for a store of S3."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.settings["store.endpoint"],
            region_name="us-east-1",
            aws_access_key_id=self.settings["store.access.key.id"],
            aws_secret_access_key=self.settings["store.secret.access.key"],
        )


@contextmanager
def moto_store(bucket: str = "moto") -> Iterator[Store]:
    """S3, by moto. It answers with an error of its own where an upload is gone."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(LOOPBACK, port := free_port(), verbose=False)
    server.start()
    try:
        url, key, secret = f"http://{LOOPBACK}:{port}", "kconnect-tests", "s3cr3t-of-the-tests"
        store = Store(f"s3://{bucket}", _settings(url, key, secret))
        store.s3_client().create_bucket(Bucket=bucket)
        yield store
    finally:
        server.stop()


@contextmanager
def s3_store(folder: Path) -> Iterator[Store]:
    """S3, by S3Proxy, in a process of its own."""
    server = S3Server(folder)
    try:
        keys = _settings(server.url, server.access_key, server.secret_key)
        yield Store(f"s3://{server.create_bucket()}", keys)
    finally:
        server.remove()


@contextmanager
def minio_store(folder: Path) -> Iterator[Store]:
    """S3Proxy as MinIO."""
    with s3_store(folder) as store, as_minio(store) as made:
        yield made


@contextmanager
def as_minio(store: Store) -> Iterator[Store]:
    """A store of S3 whose uploads are found by their whole names only, as MinIO's are."""
    with (
        FaultProxy(store.settings["store.endpoint"]) as proxy,
        proxy.fault("ListMultipartUploads", _by_whole_names, times=sys.maxsize),
    ):
        yield store.through(proxy.url)


def _by_whole_names(exchange: Exchange) -> None:
    (prefix,) = parse_qs(urlsplit(exchange.handler.path).query)["prefix"]
    status, body, headers = exchange.forward()
    own = f"<Key>{escape(prefix)}</Key>"
    text = re.sub("<Upload>.*?</Upload>", lambda found: found[0] if own in found[0] else "", body.decode(), flags=re.S)
    exchange.answer(status, text.encode(), headers)


@contextmanager
def azure_store(folder: Path) -> Iterator[Store]:
    """Azure, by Azurite, in a process of its own."""
    server = azurite.AzureServer(folder)
    try:
        address = f"abfss://{server.create_container()}@{azurite.ACCOUNT}.dfs.core.windows.net"
        yield Store(address, {"store.endpoint": server.url, "store.account.key": azurite.KEY})
    finally:
        server.remove()


@contextmanager
def google_store(folder: Path | None = None) -> Iterator[Store]:
    """Google, by moto. :param folder: it needs none."""
    server = GoogleServer()
    try:
        bucket = server.create_bucket(unique("bucket").replace("-", ""))  # moto takes `%2D` for another name
        yield Store(f"gs://{bucket}", {"store.endpoint": server.url})
    finally:
        server.remove()


@contextmanager
def hdfs_store(folder: Path) -> Iterator[Store]:
    """HDFS, in a process of its own."""
    server = HdfsServer(folder)
    try:
        yield Store(server.address, {"store.endpoint": server.url})
    finally:
        server.remove()


def _settings(url: str, key: str, secret: str) -> dict[str, str]:
    return {"store.endpoint": url, "store.access.key.id": key, "store.secret.access.key": secret}
