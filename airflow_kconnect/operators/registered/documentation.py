"""The text that Airflow shows with the DAG of a registered connector."""

from __future__ import annotations

import json
import re
from pathlib import Path

from airflow_kconnect.operators.registered.entries import Entry


def doc_md(entry: Entry, kafka_conn_id: str | None, *, old: bool) -> str:
    """Markdown: where the connector is from, what is wrong with it, its configuration with secrets hidden.

    The text changes only with the connector, as each change is a new version of the DAG.

    :param old: Kafka has been unavailable for a while.
    """
    parts = [f"{_kind(entry)}, {_origin(entry, kafka_conn_id)}."]
    if old:
        parts.append(
            "**Kafka is unavailable:** this is the last known configuration; runs read the present one. The log of the "
            "DAG processor has the reason."
        )
    if entry.problems:
        lines = [f"{key}: {text}" for key, texts in entry.problems.items() for text in texts]
        parts += ["**The configuration is not valid:** runs fail until it is corrected.", _block("\n".join(lines))]
    if entry.config:
        shown = json.dumps(dict(sorted(entry.config.items())), indent=2, ensure_ascii=False)
        parts += ["Configuration, without secrets:", _block(shown, "json")]
    parts.append("Runs are skipped while the connector is paused or stopped. If it is deleted, so is this DAG.")
    return "\n\n".join(parts)


def _kind(entry: Entry) -> str:
    if entry.kind is None:
        return "Connector of an unknown kind"
    return f"{entry.kind.capitalize()} connector `{entry.config.get('connector.class', '')}`"


def _origin(entry: Entry, kafka_conn_id: str | None) -> str:
    if entry.file is not None:
        return f"from the file `{Path(entry.file).name}`"
    connection = f" (connection `{kafka_conn_id}`)" if kafka_conn_id else ""
    return f"registered in `config.storage.topic`{connection}"


def _block(text: str, language: str = "") -> str:
    """A fenced block, which no text from a configuration can end: its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
