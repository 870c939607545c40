"""What a user should know about a connector that moves from Connect, which no single key says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from airflow_kconnect.hosting.keys import HOSTED
from airflow_kconnect.variables.syntax import variables_in

_FILES = "org.apache.kafka.connect.file.FileStream"
ICEBERG = "org.apache.iceberg.connect.IcebergSinkConnector"
_OBJECT_STORES = (
    "io.confluent.connect.s3.S3SinkConnector",
    "io.confluent.connect.gcs.GcsSinkConnector",
    "io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector",
)
_SPOOL_DIR = "com.github.jcustenborder.kafka.connect.spooldir.SpoolDir"
_NEEDS_FILES = ("file", "dir", "env")


def advice_about(connector_class: str, config: Mapping[str, Any]) -> list[str]:
    """Advice, most important first.

    :param connector_class: its full name.
    :param config: variables not resolved.
    """
    return [text for rule in _RULES for text in rule(connector_class, config)]


def _is_hosted(config: Mapping[str, Any]) -> bool:
    return str(config.get(HOSTED, "")).lower() == "true"


def _file_positions(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if connector_class == f"{_FILES}SourceConnector":
        yield (
            "Connect counts `position` in characters, and bytes are counted here: move it only while the file has "
            "nothing beyond ASCII, or set the offset by hand"
        )


def _files_of_tasks(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if connector_class.startswith(_FILES):
        yield "its file must be at the same path where Spark's executors run"


def _jdbc(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if ".connect.jdbc.JdbcSource" in connector_class:
        yield (
            "its offsets have the form of Confluent's and Aiven's connectors; tried was only a move from Aiven's 6.12 "
            "and back, with PostgreSQL: begin with an unimportant table"
        )


def _iceberg(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if connector_class != ICEBERG or _is_hosted(config):
        return
    yield (
        "Spark writes its tables here, from where its consumer group is. A move is refused while files of its tasks are"
        " not committed: it then has to run on until its coordinator has committed them"
    )
    yield (
        "Spark cannot write tables with columns of type time; and a record that its class skips, such as one without a "
        f"table, is a bad record here. With `{HOSTED}=true` in its file the Java class runs, once it is installed"
    )


def _object_stores(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if connector_class not in _OBJECT_STORES or _is_hosted(config):
        return
    yield (
        "objects keep their names, and begin where its consumer group is: what a worker that was killed has left "
        "beyond is replaced by the first run"
    )
    yield (
        "each run ends its files, so its schedule decides how large they are; a schema that changes ends none, and "
        "with other partitioners than the default one `flush.size` counts the records of a folder"
    )


def _spool_dir(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    if not connector_class.startswith(_SPOOL_DIR) or _is_hosted(config):
        return
    yield (
        "its offsets are not taken over: stop it when it is idle. What is in `input.path` then is read from the "
        "beginning, so with `cleanup.policy=NONE` move away what was read"
    )
    yield "records get no headers with the name and position of their file, and empty keys become null"


def _client_overrides(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    group = config.get("consumer.override.group.id")
    if group:
        yield f"it keeps its own consumer group, {group}: commands here need its file, not just its name"
    if config.get("offsets.storage.topic"):
        yield "it has an offset topic of its own: commands here need its file, not just its name"


def _variables(connector_class: str, config: Mapping[str, Any]) -> Iterator[str]:
    providers = sorted({v.provider for text in config.values() if isinstance(text, str) for v in variables_in(text)})
    local = [provider for provider in providers if provider in _NEEDS_FILES]
    if local:
        yield f"what its variables ({', '.join(local)}) name must exist where jobs run, and where this command runs"
    if foreign := [provider for provider in providers if provider not in _NEEDS_FILES]:
        yield f"it uses variables of {', '.join(foreign)}: the worker file must declare these providers"


_RULES: tuple[Callable[[str, Mapping[str, Any]], Iterator[str]], ...] = (
    _file_positions,
    _files_of_tasks,
    _jdbc,
    _iceberg,
    _object_stores,
    _spool_dir,
    _client_overrides,
    _variables,
)
