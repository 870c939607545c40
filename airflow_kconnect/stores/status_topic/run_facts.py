"""What the record of a connector's runs says about the connector: from its configuration, without its secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord
from airflow_kconnect.validation.hidden import HIDDEN, inspected, literal_secrets, shown_to_others
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.variables.syntax import has_reference

_DEAD_LETTERS = "errors.deadletterqueue.topic.name"
# A shorter one is part of many words.
_SHORTEST = 4


@dataclass(frozen=True)
class RunFacts:
    """About the connector of a run.

    :param connector: without runs. :param secrets: of its configuration, which must not be in texts either.
    """

    connector: ConnectorRuns = field(default_factory=ConnectorRuns)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def hide(self, text: str) -> str:
        """A text without the secrets."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def cleaned(self, run: RunRecord, hide: Callable[[str], str]) -> RunRecord:
        """A run without secrets in its texts. :param hide: replaces those of variables."""
        error = None if run.error is None else self.hide(hide(run.error))
        return replace(run, error=error, warnings=tuple(self.hide(hide(text)) for text in run.warnings))


Facts = Callable[[], RunFacts]
"""Asked in the thread that writes them."""


def facts_of(config: Mapping[str, Any], kind: str | None, props: Mapping[str, str] | None = None) -> RunFacts:
    """The facts about a connector.

    :param config: as it was written, variables not resolved.
    :param kind: `source` or `sink`, if it is known.
    :param props: variables resolved, if they are: names of topics are taken from it.
    """
    texts, _ = texts_of(config)
    inspection = inspected(texts)
    shown, kind = shown_to_others(texts, inspection), kind or (inspection.kind if inspection else None)
    known = props or {key: text for key, text in texts.items() if not has_reference(text)}
    connector = ConnectorRuns(
        shown,
        texts.get(CONNECTOR_CLASS, ""),
        kind or "",
        group=sink_group(known) if kind == "sink" and known.get("name") else None,
        dead_letter_topic=known.get(_DEAD_LETTERS) or None,
    )
    secrets = {secret for secret in literal_secrets(texts, shown) if len(secret) >= _SHORTEST}
    return RunFacts(connector, tuple(sorted(secrets, key=len, reverse=True)))
