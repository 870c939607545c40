"""The partition to which Java's clients assign a key: murmur2, which older versions of confluent-kafka do not offer."""

from __future__ import annotations

_SEED, _M, _MASK = 0x9747B28C, 0x5BD1E995, 0xFFFFFFFF


def partition_of(key: bytes, partitions: int) -> int:
    """The partition to which the partitioner `murmur2_random` assigns a key.

    :param partitions: number of partitions of the topic; at least 1.
    """
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def _murmur2(data: bytes) -> int:
    """Kafka's 32-bit MurmurHash2, as in `org.apache.kafka.common.utils.Utils.murmur2`, unsigned."""
    whole = len(data) - len(data) % 4
    h = _SEED ^ len(data)
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * _M & _MASK
        h = (h * _M & _MASK) ^ ((k ^ k >> 24) * _M & _MASK)
    if rest := data[whole:]:
        h = (h ^ int.from_bytes(rest, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15
