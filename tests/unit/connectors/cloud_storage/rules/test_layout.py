"""Names of objects, and what they say."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout, Named, Part

P3 = TopicPartition("orders", 3)


@pytest.mark.parametrize(
    ("layout", "folder", "part", "name"),
    [
        (Layout(), "partition=3", Part.VALUES, "topics/orders/partition=3/orders+3+0000000012.json"),
        (Layout(), "partition=3", Part.KEYS, "topics/orders/partition=3/orders+3+0000000012.keys.json"),
        (Layout(), "partition=3", Part.HEADERS, "topics/orders/partition=3/orders+3+0000000012.headers.json"),
        (Layout(""), "day=01", Part.VALUES, "orders/day=01/orders+3+0000000012.json"),
        (Layout("a/b", zero_pad=3), "day=01", Part.VALUES, "a/b/orders/day=01/orders+3+012.json"),
        (Layout("raw", "_", "-"), "p=1", Part.VALUES, "raw_orders_p=1_orders-3-0000000012.json"),
    ],
)
def test_name_of_a_file_and_what_it_says(layout: Layout, folder: str, part: Part, name: str) -> None:
    assert layout.file(P3, folder, 12, part, ".json") == name
    assert layout.named("orders", name) == Named(3, folder, 12)


def test_offsets_longer_than_the_padding_are_whole() -> None:
    name = Layout(zero_pad=2).file(P3, "p", 12345, Part.VALUES, ".snappy.parquet")
    assert Layout(zero_pad=2).named("orders", name) == Named(3, "p", 12345)


@pytest.mark.parametrize("ending", ["12.json", "012.json", "0000000012", "0000000012_v1.bin-1", "0000000012.keys.txt"])
def test_digits_and_extensions_of_other_settings_are_known(ending: str) -> None:
    assert Layout().named("orders", f"topics/orders/p=1/orders+3+{ending}") == Named(3, "p=1", 12)


@pytest.mark.parametrize(
    "name",
    [
        "topics/orders/partition=3/orders+x+0000000012.json",
        "topics/orders/partition=3/orders+3+.json",
        "topics/orders/partition=3/orders+3+0000000012.d/x.json",
        "topics/orders/partition=3/others+3+0000000012.json",
        "topics/orders/orders+3+0000000012.json",
        "topics/other/partition=3/orders+3+0000000012.json",
        "topics/orders/partition=3/part-0.parquet",
    ],
)
def test_names_of_others(name: str) -> None:
    assert Layout().named("orders", name) is None
