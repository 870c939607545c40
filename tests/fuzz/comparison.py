"""Answers of Kafka Connect and of ours, side by side: what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runtime.preview import preview
from tests.fuzz.configurations import JSON, Case, Config, Record
from tests.fuzz.reference import KafkaConnect

Answers = dict[str, str] | list[Record]


@dataclass(frozen=True)
class Difference:
    """One answer that is not Kafka Connect's.

    :param what: the part of the answer; or outcomes, Kafka Connect's first.
    :param record: None if it is about the configuration.
    """

    what: str
    config: Config
    record: Record | None
    theirs: Any
    ours: Any

    @property
    def types(self) -> list[str]:
        """The transformations in the chain, without package."""
        aliases = [alias for alias in self.config.get("transforms", "").split(",") if alias]
        return [self.config[f"transforms.{alias}.type"].rpartition(".")[2] for alias in aliases]

    @property
    def given(self) -> str:
        """All texts of the record, headers as well."""
        record = self.record or {}
        headers = [header["value"] for header in record.get("headers") or []]
        return "\n".join(text for text in (record.get("key"), record.get("value"), *headers) if text)

    def settings(self, key: str) -> list[str]:
        """The values of a key of transformations."""
        return [text for name, text in self.config.items() if re.fullmatch(rf"transforms\.\w+\.{re.escape(key)}", name)]

    def text(self) -> str:
        """A replayable line: `python -m tests.fuzz --replay`."""
        request = {"config": self.config, "records": [] if self.record is None else [self.record]}
        return f"{self.what}\n  {json.dumps(request)}\n  Kafka: {_short(self.theirs)}\n  ours:  {_short(self.ours)}"


def _short(answer: Any) -> str:
    return json.dumps(answer)[:700]


def ours(config: Config, records: Sequence[Record]) -> Answers:
    """Our answers; what ends the whole preview is the answer of all records."""
    try:
        return preview(config, records)
    except ConfigError as error:
        return {key: "; ".join(messages) for key, messages in error.errors.items()}
    except Exception as error:
        return [{"died": f"{type(error).__name__}: {error}"[:500]} for _ in records]


def differences(case: Case, kafka: KafkaConnect) -> list[Difference]:
    """What differs for a case."""
    return compared(case, kafka.answers(case.config, case.records), ours(case.config, case.records))


def compared(case: Case, theirs: Answers, mine: Answers) -> list[Difference]:
    """What differs between two answers."""
    if isinstance(theirs, list) and isinstance(mine, list):
        found = []
        for record, their, my in zip(case.records, theirs, mine, strict=True):
            if what := _unequal(case.config, their, my):
                found.append(Difference(what, case.config, record, their, my))
        return found
    return _refusals(case, theirs, mine)


def _refusals(case: Case, theirs: Answers, mine: Answers) -> list[Difference]:
    def difference(what: str) -> list[Difference]:
        shown = [answers if isinstance(answers, dict) else "accepted" for answers in (theirs, mine)]
        return [Difference(what, case.config, None, *shown)]

    if isinstance(theirs, list):
        return difference("configuration: accepted, refused")
    if isinstance(mine, list):
        return difference("configuration: refused, accepted")
    # A refusal at configure() names no key, only the plug-in.
    named = all(any(my.startswith(their) for my in mine) for their in theirs)
    return [] if named and all(any(my.startswith(their) for their in theirs) for my in mine) else difference("keys")


def _unequal(config: Config, their: Record, my: Record) -> str | None:
    outcomes = _outcome(their), _outcome(my)
    if outcomes[0] != outcomes[1]:
        return ", ".join(outcomes)
    if outcomes[0] != "record":
        return None
    for part in ("topic", "partition", "timestamp"):
        if their[part] != my[part]:
            return part
    names = [[header["key"] for header in answer["headers"]] for answer in (their, my)]
    if names[0] != names[1]:
        return "header names"
    for part in ("key", "value"):
        if not _same(_class_of(config, part), their[part], my[part]):
            return part
    pairs = zip(their["headers"], my["headers"], strict=True)
    class_ = _class_of(config, "header")
    return None if all(_same(class_, a["value"], b["value"]) for a, b in pairs) else "headers"


def _outcome(answer: Record) -> str:
    return next((name for name in ("dropped", "error", "died") if name in answer), "record")


def _class_of(config: Config, part: str) -> str:
    name = f"{part}.converter"
    return config.get(f"preview.output.{name}", config[name])


def _same(class_: str, their: str | None, my: str | None) -> bool:
    if their == my:
        return True
    if their is None or my is None:
        return False
    if class_ == JSON:
        return _canonical(their) == _canonical(my)
    # Java's maps have an order of their own.
    return "{" in their and _words(their) == _words(my)


def _words(text: str) -> list[str]:
    return sorted(re.split(r"[{}\[\], ]+", text))


def _canonical(text: str) -> str:
    """JSON by which 1 is not 1.0 and true not 1; the order of members and of entries is that of Java's hash maps."""
    return json.dumps(_sorted(json.loads(text)), sort_keys=True)


def _sorted(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _sorted(value) for name, value in node.items()}
    if not isinstance(node, list):
        return node
    items = [_sorted(item) for item in node]
    # The entries of a map with other keys than strings.
    are_pairs = all(isinstance(item, list) and len(item) == 2 for item in items)
    return sorted(items, key=json.dumps) if are_pairs else items


def other_bytes(config: Config, case_answers: tuple[Answers, Answers]) -> int:
    """How many records are equal as JSON, but not as bytes; the order of members does not count."""
    theirs, mine = case_answers
    if not (isinstance(theirs, list) and isinstance(mine, list)):
        return 0
    return sum(_unequal(config, a, b) is None and _letters(a) != _letters(b) for a, b in zip(theirs, mine, strict=True))


def _letters(answer: Mapping[str, Any]) -> list[list[str]]:
    if "headers" not in answer:
        return []
    texts = (answer["key"], answer["value"], *(header["value"] for header in answer["headers"]))
    return [sorted(text or "") for text in texts]
