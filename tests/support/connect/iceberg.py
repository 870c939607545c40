"""Apache Iceberg's sink for tests: its plug-in, and what is in its tables, read from their files."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet as parquet

from airflow_kconnect.hosted.installing.contents import resolved
from airflow_kconnect.machine.spark_home import spark_home
from tests.support.jars import jars

_VERSION = "1.9.2"
NEWEST = "1.12.0"
"""The version whose keys and columns our own sink has."""
AWS = (f"org.apache.iceberg:iceberg-aws:{_VERSION}", f"org.apache.iceberg:iceberg-aws-bundle:{_VERSION}")


_FIXED = '"type":{"type":"fixed","name":"uuid_?","size":16}'
_EVENT = {
    "type": "record",
    "name": "org.apache.iceberg.connect.events.Event",
    "fields": [
        {"name": "id", "type": {"type": "fixed", "name": "uuid_fixed", "size": 16}},
        {"name": "type", "type": "int"},
        {"name": "timestamp", "type": "long"},
        {"name": "group_id", "type": "string"},
        {"name": "payload", "type": {"type": "record", "name": "P", "fields": [{"name": "n", "type": "int"}]}},
    ],
}

FileOf = Callable[[str], Path]
"""The file of a URI."""


def iceberg_folder(folder: Path, *others: str, version: str = _VERSION) -> Path:
    """A folder for `plugin.path`: the sink, and Parquet and Hadoop's client, which its artifact does not ask for.

    :param others: Maven coordinates of what is needed besides, in the same plug-in.
    """
    sink = [f"org.apache.iceberg:iceberg-{name}:{version}" for name in ("kafka-connect", "parquet")]
    plugin = folder / "iceberg-kafka-connect"
    plugin.mkdir(parents=True)
    home = spark_home()
    assert home is not None
    hadoop = list((home / "jars").glob("hadoop-client-*.jar"))
    for jar in [*resolved(jars(*sink, *others).glob("*.jar")), *hadoop]:
        (plugin / jar.name).symlink_to(jar)
    return folder


def current_metadata(table: Path) -> Path:
    """The newest metadata of a table in a Hadoop catalog."""
    version = (table / "metadata/version-hint.text").read_text().strip()
    return table / f"metadata/v{version}.metadata.json"


def ids(metadata: Path, file_of: FileOf | None = None) -> Counter[int]:
    """How often each `id` is in the table's current snapshot.

    :param metadata: of the table.
    :param file_of: None means that files are named by `file:` URIs.
    """
    files = _data_files(metadata, file_of or _local)
    return Counter(n for file in files for n in parquet.read_table(file)["id"].to_pylist())


def answers(events: Iterable[bytes]) -> Counter[bytes]:
    """How often tasks have answered each request for a commit.

    :param events: of the control topic. Each is two bytes of magic, its Avro schema as Java writes texts, and a record.
    """
    found = Counter[bytes]()
    for event in events:
        size = int.from_bytes(event[2:4], "big")
        schema = event[4 : 4 + size].decode()
        if "DataComplete" in schema:
            # Java finds a name without namespace anywhere.
            first, *others = schema.split('"type":"uuid_fixed"')
            own = first + "".join(f"{_FIXED.replace('?', str(n))}{other}" for n, other in enumerate(others))
            record: Any = fastavro.schemaless_reader(io.BytesIO(event[4 + size :]), json.loads(own), None)
            found[record["payload"]["commit_id"]] += 1
    return found


def _data_files(metadata: Path, file_of: FileOf) -> Iterator[Path]:
    content = json.loads(metadata.read_text())
    (current,) = (one for one in content["snapshots"] if one["snapshot-id"] == content["current-snapshot-id"])
    for manifest in _avro(file_of(current["manifest-list"])):
        for entry in _avro(file_of(manifest["manifest_path"])):
            if entry["status"] != 2:  # deleted
                yield file_of(entry["data_file"]["file_path"])


def _avro(path: Path) -> list[Any]:
    with path.open("rb") as file:
        return list(fastavro.reader(file))


def _local(uri: str) -> Path:
    return Path(uri.removeprefix("file:"))


def event(kind: int, group: str) -> bytes:
    """An event of the control topic with a payload of its own. :param kind: 1: data were written."""
    body, schema = io.BytesIO(), json.dumps(_EVENT).encode()
    record = {"id": b"0" * 16, "type": kind, "timestamp": 1_700_000_000_000_000, "group_id": group, "payload": {"n": 7}}
    fastavro.schemaless_writer(body, _EVENT, record)
    return b"\xc2\x01" + len(schema).to_bytes(2, "big") + schema + body.getvalue()
