"""Parts of records that the writer encodes: messages instead of data, errors of the first failing stage."""

from __future__ import annotations

import pyarrow as pa

from airflow_kconnect.runtime.conversion.batch_encoding import BatchEncoding, encoded_batch


class _Texts:
    """Writes numbers after their topic; cannot write negative ones."""

    def messages(self, data: pa.Array, topics: pa.Array | str) -> tuple[pa.Array, pa.Array]:
        named = [topics] * len(data) if isinstance(topics, str) else topics.to_pylist()
        pairs = list(zip(named, data.to_pylist(), strict=True))
        written = [None if number is None else f"{topic}:{number}".encode() for topic, number in pairs]
        errors = ["negative" if number is not None and number < 0 else None for _, number in pairs]
        return pa.array(written, pa.binary()), pa.array(errors, pa.string())


KEY, VALUE = BatchEncoding("key", "key: ", _Texts()), BatchEncoding("value", "value: ", _Texts())


def test_messages_replace_data() -> None:
    batch = pa.record_batch({"value": [1, None], "progress": [7, 8]})

    found = encoded_batch(batch, (VALUE,), "t")

    assert found.to_pylist() == [{"value": b"t:1", "progress": 7}, {"value": None, "progress": 8}]


def test_each_record_has_its_own_topic() -> None:
    batch = pa.record_batch({"value": [1, 2], "topic": ["a", "b"]})

    assert encoded_batch(batch, (VALUE,), None).column("value").to_pylist() == [b"a:1", b"b:2"]


def test_the_error_of_the_first_failing_stage_counts() -> None:
    batch = pa.record_batch(
        {"key": [1, 1, -1, -1], "value": [1, -1, -1, -1], "error": pa.array([None, None, None, "before"])}
    )

    found = encoded_batch(batch, (KEY, VALUE), "t")

    assert found.column("error").to_pylist() == [None, "value: negative", "key: negative", "before"]


def test_without_errors_there_is_no_column_for_them() -> None:
    batch = pa.record_batch({"value": [1]})

    assert encoded_batch(batch, (VALUE,), "t").schema.names == ["value"]


def test_nothing_changes_if_all_is_encoded() -> None:
    batch = pa.record_batch({"value": [b"x"]})

    assert encoded_batch(batch, (), "t") is batch
