"""The objects of a store, or the files of an HDFS, looked at without the package's code."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from tests.support.azurite import ACCOUNT
from tests.support.stores import Store


def open_bucket(store: Store) -> Any:
    """A client of obstore."""
    from obstore.store import AzureStore, GCSStore, S3Store

    scheme, _, root = store.address.partition("://")
    keys, endpoint = store.settings, store.settings["store.endpoint"]
    plain: Any = {"allow_http": True}
    if scheme == "gs":
        return GCSStore(root, config={"base_url": endpoint, "bearer_token": "any"}, client_options=plain)
    if scheme == "abfss":
        return AzureStore(
            root.partition("@")[0],
            endpoint=endpoint,
            account_name=ACCOUNT,
            account_key=keys["store.account.key"],
            client_options=plain,
        )
    return S3Store(
        root,
        endpoint=endpoint,
        region="us-east-1",
        access_key_id=keys["store.access.key.id"],
        secret_access_key=keys["store.secret.access.key"],
        client_options=plain,
    )


def objects_of(store: Store, prefix: str) -> dict[str, bytes]:
    """Contents of all objects below a prefix, hidden ones too, by the rest of their names."""
    if store.address.startswith("hdfs:"):
        url = f"{store.settings['store.endpoint']}/webhdfs/v1/{prefix.rstrip('/')}"
        return {name: _webhdfs(f"{url}/{quote(name)}", "OPEN") for name in _files_below(url)}
    bucket = open_bucket(store)
    names = [each["path"] for page in bucket.list(prefix) for each in page]
    return {name.removeprefix(prefix): bytes(bucket.get(name).bytes()) for name in names}


def unfinished_uploads(store: Store, prefix: str) -> list[str]:
    """The names that uploads in parts will have, if someone completes them. Only S3 has such a list."""
    if not store.address.startswith("s3:"):
        return []
    bucket = store.address.removeprefix("s3://")
    found = store.s3_client().list_multipart_uploads(Bucket=bucket, Prefix=prefix)
    return [each["Key"] for each in found.get("Uploads", ())]


def _files_below(url: str, above: str = "") -> Iterator[str]:
    for entry in json.loads(_webhdfs(f"{url}/{quote(above)}", "LISTSTATUS"))["FileStatuses"]["FileStatus"]:
        name = f"{above}{entry['pathSuffix']}"
        if entry["type"] == "DIRECTORY":
            yield from _files_below(url, f"{name}/")
        else:
            yield name


def _webhdfs(url: str, op: str) -> bytes:
    with urlopen(f"{url}?op={op}&user.name={getpass.getuser()}", timeout=60) as answer:
        return bytes(answer.read())
