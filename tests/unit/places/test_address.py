"""Addresses of places, as users write them."""

from __future__ import annotations

import pytest

from airflow_kconnect.places.address import Address, address, dataset


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/data/orders", Address("file", "", "/data/orders")),
        ("/data/orders/", Address("file", "", "/data/orders")),
        ("/", Address("file", "", "/")),
        ("file:///data/orders", Address("file", "", "/data/orders")),
        ("s3://lake", Address("s3", "lake", "")),
        ("s3a://lake/raw/", Address("s3", "lake", "raw")),
        ("gs://lake/raw/orders", Address("gs", "lake", "raw/orders")),
        (
            "abfss://raw@shop.dfs.core.windows.net/orders",
            Address("abfss", "raw@shop.dfs.core.windows.net", "orders"),
        ),
    ],
)
def test_an_address_is_read(text: str, expected: Address) -> None:
    assert address(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("data/orders", "must be the absolute path"),
        ("ftp://host/data", "begins with ftp://"),
        ("s3:///raw", "names no bucket"),
        ("abfss://raw/orders", "names no account"),
        ("s3://lake/../raw", "has an empty part"),
        ("s3://lake/a//b", "has an empty part"),
        ("file://other/data", "must name a folder of this machine"),
    ],
)
def test_what_is_none_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        address(text)


@pytest.mark.parametrize(
    ("text", "below"),
    [("/data", "/data/a/b"), ("/", "/a/b"), ("s3://lake", "s3://lake/a/b"), ("s3://lake/raw", "s3://lake/raw/a/b")],
)
def test_an_address_below_another_one(text: str, below: str) -> None:
    assert str(address(text).below("a", "b")) == below


@pytest.mark.parametrize(
    ("text", "namespace", "name"),
    [("/data", "file", "/data"), ("s3://lake/raw", "s3://lake", "raw"), ("s3://lake", "s3://lake", "/")],
)
def test_its_dataset_is_named_as_openlineage_does(text: str, namespace: str, name: str) -> None:
    found = dataset(address(text))
    assert (found.namespace, found.name) == (namespace, name)
