"""Where a key lands, by the hash values in Kafka's own tests."""

from __future__ import annotations

import pytest

from airflow_kconnect.kafka.partitions import partition_of

# org.apache.kafka.common.utils.UtilsTest.testMurmur2; the last ones are signed 32-bit numbers as Java prints them.
JAVAS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", JAVAS, ids=bytes.decode)
def test_a_key_has_javas_hash(key: bytes) -> None:
    assert partition_of(key, 2**31) == JAVAS[key] & 0x7FFFFFFF


def test_the_partition_is_the_remainder() -> None:
    assert partition_of(b"abc", 50) == 479470107 % 50
