"""Which Spark partition a row of a table is put into."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.source.placing import murmur3, places_of


@pytest.mark.parametrize(("number", "hashed"), [(0, 933211791), (1, -559580957), (2, 1765031574)])
def test_numbers_have_the_hash_that_spark_gives_them(number: int, hashed: int) -> None:
    assert murmur3(number) == hashed


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_there_is_a_number_for_each_partition(count: int) -> None:
    assert [murmur3(number) % count for number in places_of(count)] == list(range(count))
