"""Operators that wait until a person approves what comes next: a replay, a change of offsets, a try after a failure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import AirflowFailException, AirflowSkipException
from airflow.providers.standard.exceptions import HITLRejectException
from airflow.providers.standard.operators.hitl import ApprovalOperator

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.errors import connector_error
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.operators.operations import HookedOperator
from airflow_kconnect.operators.reports.failures import FAILURE
from airflow_kconnect.submit.operations import connector_name

if TYPE_CHECKING:
    from airflow.sdk import Context

# A person reads them, and Airflow stores them.
_MOST_ROWS = 20
_MOST_OF_CELL = 1_000

_FAILED = ("failed", "upstream_failed")

FACTS = "facts"
"""Key of the XCom with the facts that were shown."""


@dataclass(frozen=True)
class ApprovalFacts:
    """What a person is to decide about.

    :param subject: one line: the question.
    :param text: what follows it, in Markdown.
    :param header: of the table. :param rows: its rows; at most 20 are shown, with the number of the others.
    :param data: the same as JSON, for later tasks.
    """

    subject: str
    text: str = ""
    header: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> str:
        """Text and table, in Markdown."""
        return "\n\n".join(part for part in (self.text, self._table(), self._rest()) if part)

    def _table(self) -> str:
        if not self.rows:
            return ""
        lines = [self.header, ["---"] * len(self.header), *([_cell(c) for c in row] for row in self.rows[:_MOST_ROWS])]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _rest(self) -> str:
        more = len(self.rows) - _MOST_ROWS
        return f"... and {more:,} more" if more > 0 else ""


class ConnectorApprovalOperator(HookedOperator, ApprovalOperator):
    """Waits until a person has approved what the next tasks will do with a connector, and shows the facts.

    An `ApprovalOperator` of Airflow: approved, the next tasks run; rejected, they are skipped, or this one fails with
    `fail_on_reject=True`. Where there is nothing to approve, this task and those after it are skipped without asking.
    All parameters of `ApprovalOperator` apply: `assigned_users`, `notifiers`, `response_timeout`, `defaults`, ...; and
    those of `HookedOperator`.

    The facts are those of the moment in which the task begins to wait; they are also in the XCom `facts`. What they
    contain can be read by all who may see the DAG's runs.

    For a decision of your own make a subclass with `facts`.

    :param subject: the question. Default: one that names the connector. (templated)
    :param body: text above the facts, in Markdown. (templated)
    """

    template_fields: Sequence[str] = (*HookedOperator.template_fields, *ApprovalOperator.template_fields)
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json"}

    def __init__(self, *, subject: str = "", **kwargs: Any) -> None:
        super().__init__(subject=subject, **kwargs)

    def execute(self, context: Context) -> Any:
        """Ask, and wait for the answer, which Airflow passes to `execute_complete`.

        :raises AirflowSkipException: there is nothing to approve.
        :raises ConnectorConfigError: configuration or request are wrong; a retry would not help.
        :raises ConnectorDataError: data are wrong, a subclass of it.
        :raises ConnectorRetriableError: an external system is unavailable.
        """
        try:
            facts = self.facts(context)
        except ConnectError as error:
            raise connector_error(error.exit_code, str(error), type(error).__name__) from None
        if facts is None:
            raise AirflowSkipException("There is nothing to approve")
        self.subject = self.subject or facts.subject
        self.body = "\n\n".join(part for part in (self.body, facts.body()) if part)
        context["ti"].xcom_push(key=FACTS, value=dict(facts.data))
        self.log.info("%s\n%s", self.subject, self.body)
        return super().execute(context)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> Any:
        """Called by Airflow with the answer.

        :raises AirflowFailException: rejected, with `fail_on_reject`. A retry would ask the same again.
        """
        try:
            return super().execute_complete(context, event)
        except HITLRejectException:
            raise AirflowFailException(f"Rejected: {self.subject or self.task_id}") from None

    @abstractmethod
    def facts(self, context: Context) -> ApprovalFacts | None:
        """What there is to approve; None if nothing is. Errors as in `execute`, or a `ConnectError`."""


class ApproveDeadLetterReplayOperator(ConnectorApprovalOperator):
    """Asks a person before a `ReplayDeadLettersOperator`: how many dead letters wait, and why they failed.

    .. code-block:: python

        ApproveDeadLetterReplayOperator(task_id="approve", connector="orders-sink.json") >> ReplayDeadLettersOperator(
            task_id="replay", connector="orders-sink.json"
        )

    Skipped if all were replayed. Shown are stages, error classes and places, no contents, and no messages, which may
    quote a record: `kconnect dlq show` and the Connectors page have both. The replay delivers also what has arrived
    since the question. Parameters: see `ConnectorApprovalOperator`.
    """

    def facts(self, context: Context) -> ApprovalFacts | None:
        """From the dead-letter topic."""
        found = self.hook.dead_letters(self.connector)
        if not found["records"]:
            return None
        name, topic, records = found["connector"], found["topic"], found["records"]
        text = f"{records:,} dead letters in {_cell(topic)} were not replayed yet."
        if found["seen"] < records:
            text += f" These are the reasons of the newest {found['seen']:,}:"
        rows = [
            (each["records"], each["error"], each["stage"], each["example"], each["connector"])
            for each in found["reasons"]
        ]
        header = ("Records", "Error", "Stage", "For example", "Connector")
        return ApprovalFacts(f"Replay {records:,} dead letters of connector {name}?", text, header, rows, found)


class ApproveOffsetChangeOperator(ConnectorApprovalOperator):
    """Asks a person before a `ResetOffsetsOperator` or an `AlterOffsetsOperator`: which offsets would change, and how.

    .. code-block:: python

        ApproveOffsetChangeOperator(task_id="approve", connector="orders-sink.json") >> ResetOffsetsOperator(
            task_id="reset", connector="orders-sink.json"
        )

    Skipped if there are no offsets to remove, or if they are what they are to become. Offsets are part of what is
    shown: file names, table names, positions. Parameters: see also `ConnectorApprovalOperator`.

    :param offsets: as for `AlterOffsetsOperator`. None: a reset, which removes all of them. (templated)
    """

    template_fields: Sequence[str] = (*ConnectorApprovalOperator.template_fields, "offsets")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json", "offsets": "json"}

    def __init__(
        self, *, offsets: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.offsets = offsets

    def facts(self, context: Context) -> ApprovalFacts | None:
        """From the committed offsets."""
        changes = offset_changes(self.hook.offsets(self.connector), self.offsets)
        if not changes:
            return None
        name = connector_name(self.connector, self._dag_folder())
        done = "Reset" if self.offsets is None else "Alter"
        text = "Partitions without a new offset begin where a first run would. What was written before stays."
        rows = [(change["partition"], change["from"], change["to"]) for change in changes]
        data = {"connector": name, "partitions": len(changes), "changes": changes[:_MOST_ROWS]}
        return ApprovalFacts(
            f"{done} the offsets of connector {name}?", text, ("Partition", "Committed", "New"), rows, data
        )


class ApproveAfterFailureOperator(ConnectorApprovalOperator):
    """Asks a person what to do about a run that has failed, such as one whose records do not fit their target.

    .. code-block:: python

        write = KafkaSinkOperator(task_id="write", connector=sink)
        ask = ApproveAfterFailureOperator(task_id="ask", connector=sink)
        write >> ask >> KafkaSinkOperator(task_id="write_new_columns", connector={**sink, "auto.evolve": "true"})

    Shown is the error of each task right before it that has failed; its message is that of the task's log, and may
    quote a record. Skipped if none has failed. Rejected, this task fails, and so does the DAG run: skipped tasks alone
    would let it succeed, although a task has failed. Parameters: see `ConnectorApprovalOperator`.

    :param trigger_rule: default `one_failed`. :param fail_on_reject: default True.
    """

    def __init__(self, *, trigger_rule: str = "one_failed", fail_on_reject: bool = True, **kwargs: Any) -> None:
        super().__init__(trigger_rule=trigger_rule, fail_on_reject=fail_on_reject, **kwargs)

    def facts(self, context: Context) -> ApprovalFacts | None:
        """From what the failed tasks have left in XCom; one that was killed has left nothing."""
        ti = context["ti"]
        rows = []
        for task_id in sorted(self.upstream_task_ids):
            left = as_failures(ti.xcom_pull(task_ids=task_id, key=FAILURE))
            rows += [(_of_group(task_id, left, each), each["error"], each["message"]) for each in left]
            if not left and _has_failed(ti, task_id):
                rows.append((task_id, "not known", "It left no error: see its log"))
        if not rows:
            return None
        name = connector_name(self.connector, self._dag_folder())
        data = {"connector": name, "failures": [{"task": t, "error": e, "message": m} for t, e, m in rows]}
        header = ("Task", "Error", "Message")
        return ApprovalFacts(f"Continue after the failure of connector {name}?", "", header, rows, data)


def _of_group(task_id: str, left: Sequence[Mapping[str, Any]], failure: Mapping[str, Any]) -> str:
    """The task, and which of its connectors has failed if it has several."""
    connector = failure.get("connector")
    return f"{task_id}: {connector}" if len(left) > 1 and connector else task_id


def _has_failed(ti: Any, task_id: str) -> bool:
    """Whether a task of the same DAG run, or one before it, has failed; of a mapped one any of its instances."""
    states = ti.get_task_states(dag_id=ti.dag_id, task_ids=[task_id], run_ids=[ti.run_id])
    return any(state in _FAILED for state in states.get(ti.run_id, {}).values())


def as_failures(left: Any) -> list[Mapping[str, Any]]:
    """The failures among what a task has left in XCom; a mapped task has left several things."""
    every = [left] if isinstance(left, Mapping) else left if isinstance(left, Iterable) else []
    return [each for each in every if isinstance(each, Mapping) and {"error", "message"} <= set(each)]


def offset_changes(
    committed: Sequence[Mapping[str, Any]], request: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """What a request would change: `[{"partition", "from", "to"}]`; offsets are None where there is none.

    :param committed: as Connect's REST API shows them. :param request: as for `AlterOffsetsOperator`; None: a reset.
    :raises ConfigError: it is not a request.
    """
    if request is None:
        return [{"partition": dict(each["partition"]), "from": each["offset"], "to": None} for each in committed]
    before = {partition_identity(each["partition"]): each["offset"] for each in committed}
    entries = request.get("offsets") if isinstance(request, Mapping) else request
    if not isinstance(entries, Sequence) or not all(isinstance(e, Mapping) and "partition" in e for e in entries):
        raise ConfigError({"offsets": ['must be a list of {"partition": {...}, "offset": {...}}']})
    changes = []
    for entry in entries:
        old, new = before.get(partition_identity(entry["partition"])), entry.get("offset")
        if old != new:
            changes.append({"partition": dict(entry["partition"]), "from": old, "to": new})
    return changes


def _cell(value: Any) -> str:
    """A value in a cell of a table, or in a text, as code: what comes from a topic must not become Markdown."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}={inner}" for key, inner in value.items())
    text = "".join(c if c.isprintable() and c not in "`|" else " " for c in str(value))[:_MOST_OF_CELL].strip()
    return f"`{text}`" if text else ""
