"""The text that Airflow shows with the DAG of a registered connector."""

from __future__ import annotations

import json
import re
from pathlib import Path

from airflow_kconnect.operators.registered.entries import Entry
from airflow_kconnect.operators.registered.groups import GroupEntry

_MOST_LISTED = 100
_OLD = (
    "**Kafka is unavailable:** this is the last known configuration; runs read the present one. The log of the DAG"
    " processor has the reason."
)


def doc_md(entry: Entry, kafka_conn_id: str | None, *, old: bool) -> str:
    """Markdown: where the connector is from, what is wrong with it, its configuration with secrets hidden.

    The text changes only with the connector, as each change is a new version of the DAG.

    :param old: Kafka has been unavailable for a while.
    """
    parts = [f"{_kind(entry)}, {_origin(entry, kafka_conn_id)}."]
    if old:
        parts.append(_OLD)
    if entry.problems:
        lines = [f"{key}: {text}" for key, texts in entry.problems.items() for text in texts]
        parts += ["**The configuration is not valid:** runs fail until it is corrected.", _block("\n".join(lines))]
    if entry.config:
        shown = json.dumps(dict(sorted(entry.config.items())), indent=2, ensure_ascii=False)
        parts += ["Configuration, without secrets:", _block(shown, "json")]
    parts.append("Runs are skipped while the connector is paused or stopped. If it is deleted, so is this DAG.")
    return "\n\n".join(parts)


def group_doc_md(group: GroupEntry, kafka_conn_id: str | None, *, old: bool) -> str:
    """Markdown: the connectors of a group, and what is wrong with them; see `doc_md`."""
    parts = [f"Group `{group.name}` of {len(group.members)} connectors, {_registered(kafka_conn_id)}."]
    parts += [_OLD] if old else []
    if group.problems:
        lines = [f"{key}: {text}" for key, texts in group.problems.items() for text in texts]
        parts += ["**Not all is valid:** connectors with errors fail alone.", _block("\n".join(lines))]
    rows = [f"{member.name}  ({member.kind or 'unknown kind'})" for member in group.members[:_MOST_LISTED]]
    more = len(group.members) - _MOST_LISTED
    parts.append(_block("\n".join([*rows, *([f"and {more} more"] if more > 0 else [])])))
    parts.append("Connectors that are paused or stopped are left out. With the last of them this DAG is deleted.")
    return "\n\n".join(parts)


def _kind(entry: Entry) -> str:
    if entry.kind is None:
        return "Connector of an unknown kind"
    return f"{entry.kind.capitalize()} connector `{entry.config.get('connector.class', '')}`"


def _origin(entry: Entry, kafka_conn_id: str | None) -> str:
    if entry.file is not None:
        return f"from the file `{Path(entry.file).name}`"
    return _registered(kafka_conn_id)


def _registered(kafka_conn_id: str | None) -> str:
    connection = f" (connection `{kafka_conn_id}`)" if kafka_conn_id else ""
    return f"registered in `config.storage.topic`{connection}"


def _block(text: str, language: str = "") -> str:
    """A fenced block, which no text from a configuration can end: its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
