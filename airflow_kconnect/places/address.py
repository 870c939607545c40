"""Addresses of places: folders and prefixes in buckets, as users write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from airflow_kconnect.connect.connector.datasets import Dataset

LOCAL = "file"
_STORES = {
    "s3": "s3://bucket/prefix",
    "gs": "gs://bucket/prefix",
    "abfss": "abfss://container@account.dfs.core.windows.net/prefix",
    "hdfs": "hdfs://name-node:8020/folder",
}
_SAME = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss"}
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<root>[^/]*)(?P<path>(/.*)?)", re.DOTALL)
# What S3, Google and Azure allow for names of buckets and containers, and what follows them.
_ROOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]*")


@dataclass(frozen=True)
class Address:
    """Where a place is.

    :param scheme: ``file``, ``s3``, ``gs``, ``abfss`` or ``hdfs``.
    :param root: the bucket, ``container@host`` or ``host:port``; empty for a folder of this machine.
    :param path: of a folder: absolute; else below the root, without a slash at its ends.
    """

    scheme: str
    root: str
    path: str

    def __str__(self) -> str:
        return self.path if self.scheme == LOCAL else f"{self.scheme}://{self.root}/{self.path}".rstrip("/")

    def below(self, *names: str) -> Address:
        """An address below this one."""
        path = "/".join(part for part in (self.path.rstrip("/"), *names) if part)
        # The root of all folders is a slash alone.
        return Address(self.scheme, self.root, f"/{path.lstrip('/')}" if self.scheme == LOCAL else path)


def scheme_of(text: str) -> str:
    """The scheme with which a text begins, by its usual name; empty if it begins with none."""
    scheme = text.partition("://")[0] if "://" in text else ""
    return _SAME.get(scheme, scheme)


def is_in_store(text: str) -> bool:
    """Whether a text begins as the address of a store does."""
    return scheme_of(text) in _STORES


def address(text: str) -> Address:
    """Read an address.

    :raises ValueError: why it is none; the text follows the name of a configuration key.
    """
    if text.startswith("/"):
        return Address(LOCAL, "", str(PurePosixPath(text)))
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise ValueError(f"must be the absolute path of a folder, or the address of one in a store, like {_examples()}")
    scheme = _SAME.get(match["scheme"], match["scheme"])
    if scheme == LOCAL:
        if match["root"] not in ("", "localhost") or not match["path"]:
            raise ValueError("must name a folder of this machine: file:///data/orders")
        return Address(LOCAL, "", str(PurePosixPath(match["path"])))
    if scheme not in _STORES:
        raise ValueError(f"begins with {match['scheme']}://, expected an absolute path or one of: {_examples()}")
    if not _ROOT.fullmatch(match["root"]):
        raise ValueError(f"names no bucket, expected {_STORES[scheme]}")
    if scheme == "abfss" and "@" not in match["root"]:
        raise ValueError(f"names no account, expected {_STORES[scheme]}")
    parts = match["path"].strip("/").split("/")
    if any(part in (".", "..") for part in parts) or (parts != [""] and "" in parts):
        raise ValueError("has an empty part, or `.` or `..`: a store takes them for names")
    return Address(scheme, match["root"], "/".join(parts))


def _examples() -> str:
    return ", ".join(_STORES.values())


def dataset(at: Address) -> Dataset:
    """Its name in lineage, by OpenLineage's conventions."""
    if at.scheme == LOCAL:
        return Dataset(LOCAL, at.path)
    if at.scheme == "hdfs":  # has paths, not keys
        return Dataset(f"hdfs://{at.root}", f"/{at.path}")
    return Dataset(f"{at.scheme}://{at.root}", at.path or "/")
