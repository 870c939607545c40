"""Object stores for tests: servers in this process, with a bucket each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.local.ports import LOOPBACK, free_port
from tests.support.s3 import S3Server


@dataclass(frozen=True)
class Store:
    """A place in a store of a test.

    :param address: of a bucket, or a folder. :param settings: the keys with which a connector reaches it.
    """

    address: str
    settings: dict[str, str]


@contextmanager
def moto_store(bucket: str = "moto") -> Iterator[Store]:
    """S3, by moto. It answers with an error of its own where an upload is gone."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(LOOPBACK, port := free_port(), verbose=False)
    server.start()
    try:
        url, key, secret = f"http://{LOOPBACK}:{port}", "kconnect-tests", "s3cr3t-of-the-tests"
        boto3.client(
            "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key=secret
        ).create_bucket(Bucket=bucket)
        yield Store(f"s3://{bucket}", _settings(url, key, secret))
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


def _settings(url: str, key: str, secret: str) -> dict[str, str]:
    return {"store.endpoint": url, "store.access.key.id": key, "store.secret.access.key": secret}
