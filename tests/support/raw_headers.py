"""Headers with names that are not UTF-8: Python's client cannot write them, but librdkafka itself can."""

from __future__ import annotations

import ctypes
from pathlib import Path

import confluent_kafka

_TOPIC, _VALUE, _FLAGS, _HEADER, _END = 1, 4, 7, 9, 0
_COPY = 2


def produce_with_header(bootstrap: str, topic: str, value: bytes, name: bytes) -> None:
    """Write a record with one header with any name."""
    (path,) = Path(confluent_kafka.__file__).parents[1].glob("confluent_kafka.libs/librdkafka*.so*")
    library = ctypes.CDLL(str(path))
    library.rd_kafka_conf_new.restype = library.rd_kafka_new.restype = ctypes.c_void_p
    text = ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(library.rd_kafka_conf_new())
    library.rd_kafka_conf_set(conf, b"bootstrap.servers", bootstrap.encode(), text, ctypes.c_size_t(512))
    producer = ctypes.c_void_p(library.rd_kafka_new(0, conf, text, ctypes.c_size_t(512)))
    tag, size = ctypes.c_int, ctypes.c_size_t
    error = library.rd_kafka_producev(
        producer,
        *(tag(_TOPIC), ctypes.c_char_p(topic.encode()), tag(_FLAGS), tag(_COPY)),
        *(tag(_VALUE), ctypes.c_char_p(value), size(len(value))),
        *(tag(_HEADER), ctypes.c_char_p(name), ctypes.c_char_p(b"x"), ctypes.c_ssize_t(1)),
        tag(_END),
    )
    assert error == 0
    assert library.rd_kafka_flush(producer, 20_000) == 0
    library.rd_kafka_destroy(producer)
