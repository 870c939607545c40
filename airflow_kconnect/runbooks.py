"""Which runbook of the documentation explains an error, by the error's text."""

from __future__ import annotations

import re

FOLDER = "https://github.com/airflow-kconnect/airflow_kconnect/blob/main/docs/runbooks"

# The first match wins. A test compares them with the symptoms that the runbooks list.
_SYMPTOMS = {
    "access-denied": r"authentication failed; check user|lacks the permission \(ACL\)",
    "database-login": "cannot log in to ",
    "table-missing": r"there is no table |(?:relation|table) \S+ does not exist",
    "column-missing": r"has no column \S+; its columns:|has no columns? for ",
    # The host is that of the connection which Airflow itself offers to create.
    "kafka-connection": r"Kafka connection `[^`]+` (?:does not exist|has type|names no brokers)|at broker:29092",
    "broker-unavailable": r"no Kafka broker answers at|reading to the end is blocked|nothing arrived for \d+ s before",
    "table-lost-plans": "it was restored, replaced or created again",
    "table-forgot-plans": r"whether it has plan \S+ cannot be told",
    "table-unknown-plans": r"Kafka knows none|is the last that Kafka knows",
    "table-miscounted": "Spark was to write",
    "table-conflicts": "other writers were faster",
    "small-files": "readers are slow with files below",
    "transaction-timeout": "the broker has aborted the transaction",
    "fenced": "fenced by a newer run|was taken over by run|commits nothing more|another run of this connector has",
    "unfinished-plan": "while a run over its bytes",
    "file-replaced": r"was truncated or replaced|it was replaced[.;]|: no line ends at its offset",
    "table-renumbered": "gives its next row the number",
    "records-deleted": r"were deleted before they were read|created again since it|\d+ is committed, but the partition",
    "unreadable-offset": "^offset record of connector|with different partitioners|the committed offset of file",
    "offsets-gone": "its offsets are gone: offset topic",
    "bad-record": "bad record at|: the line is (?:not valid UTF-8|longer than)|a record's value cannot be understood",
    "binlog-purged": "no longer has the binary log from",
    "empty-interval": "`data_interval`: the (?:interval|run)",
    "java": r"No Java was found|JAVA_HOME is set to|Java \d+ was found at",
    "no-executors": "Initial job has not accepted any resources",
    "out-of-memory": "OutOfMemoryError|ExecutorLostFailure|Python worker exited|physical memory limits|signal 9 .SIG",
    "python-versions": "PYTHON_VERSION_MISMATCH",
    "replication-factor": r"topic \S+ cannot be created: ",
    "slot-in-use": r"^Replication slot `[^`]+` is in use by process",
    "slot-gone": r"replication slot `[^`]+` does not exist, but|no longer has the changes from|the slot is ahead of",
    "wal-removed": r"replication slot `[^`]+` has lost WAL",
    "spark-version": r"holds Spark [\d.]+; supported|no Spark jars|pyspark\.zip is of version|spark-submit` was not",
}


def runbook_of(message: str) -> str | None:
    """The page of the runbook for an error, without its suffix; None if there is none."""
    return next((page for page, symptoms in _SYMPTOMS.items() if re.search(symptoms, message)), None)


def runbook_address(page: str) -> str:
    """Address of a runbook."""
    return f"{FOLDER}/{page}.md"


def runbook_url(message: str) -> str | None:
    """Address of the runbook for an error; None if there is none."""
    page = runbook_of(message)
    return None if page is None else runbook_address(page)
