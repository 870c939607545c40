"""Parts of records that the writer encodes: messages instead of data, errors of the first failing stage."""

from __future__ import annotations

import pyarrow as pa
import pytest

from airflow_kconnect.runtime.conversion.batch_encoding import BatchEncoding, encoded_batch


class _Texts:
    """Writes numbers after their topic; cannot write negative ones."""

    def messages(self, data: pa.Array, topics: pa.Array | str) -> tuple[pa.Array, pa.Array]:
        named = [topics] * len(data) if isinstance(topics, str) else topics.to_pylist()
        pairs = list(zip(named, data.to_pylist(), strict=True))
        written = [None if number is None else f"{topic}:{number}".encode() for topic, number in pairs]
        errors = ["negative" if number is not None and number < 0 else None for _, number in pairs]
        return pa.array(written, pa.binary()), pa.array(errors, pa.string())


KEY = BatchEncoding("key", "key: ", (_Texts(),), ("key",))
VALUE = BatchEncoding("value", "value: ", (_Texts(),), ("value",))
TAGGED = BatchEncoding("value", "value: ", (_Texts(), _Texts()), ("v_0", "v_1"), "tag")


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


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        pytest.param([0, 1, None], [b"t:1", b"t:20", None], id="mixed"),
        pytest.param([1, 1, 1], [b"t:10", b"t:20", b"t:30"], id="all of one shape"),
        pytest.param([None, None, None], [None, None, None], id="tombstones"),
    ],
)
def test_each_row_is_encoded_by_its_shape(tags: list[int | None], expected: list[bytes | None]) -> None:
    batch = pa.record_batch({"tag": pa.array(tags, pa.int32()), "v_0": [1, 2, 3], "v_1": [10, 20, 30]})

    assert encoded_batch(batch, (TAGGED,), "t").to_pydict() == {"value": expected}


def test_rows_of_several_shapes_have_their_own_topics_and_errors() -> None:
    batch = pa.record_batch({"tag": [0, 1, 0], "v_0": [1, 2, -3], "v_1": [10, -20, 30], "topic": ["a", "b", "c"]})

    found = encoded_batch(batch, (TAGGED,), None)

    assert found.column("error").to_pylist() == [None, "value: negative", "value: negative"]
    assert found.column("value")[0].as_py() == b"a:1"
