"""Whether tables have the plans that they took, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airflow_kconnect.connect.connector.planned import KnownPlans, SinkPlan, UnknownPlansError
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.base import Table, earliest
from airflow_kconnect.kafka.positions_text import resume_command


class KeptPlans:
    """Compares tables with what Kafka knows, each before its first plan of a run.

    :param connector: its name.
    """

    def __init__(self, connector: str) -> None:
        self._connector = connector
        self._known: KnownPlans | None = None
        self._seen: set[str] = set()

    def check_taken(self, known: KnownPlans, tables: Iterable[Table]) -> None:
        """See `PlannedSinkConnector.check_kept`.

        :param tables: those that have taken plans.
        """
        self._known = known
        texts: list[str] = []
        starts: list[Mapping[TopicPartition, int] | None] = []
        for table in tables:
            number = known.taken[table.name]
            if (text := _lost(table, known, number)) is not None:
                texts.append(text)
                starts.append(table.lost_starts(known.application, number))
            else:
                self.check(table)
        if texts:
            is_known = None not in starts
            at = earliest(each for each in starts if each is not None) if is_known else None
            raise lost("; ".join(texts), self._connector, at, others=len(known.taken) > len(texts))

    def check_there(self, table: Table) -> None:
        """:raises DataError: a table that has taken plans is missing."""
        number = None if self._known is None else self._known.taken.get(table.name)
        if number is not None:
            raise lost(f"table {table.name}: it is not there, and it took plan {number}", self._connector, None)

    def check(self, table: Table) -> None:
        """:raises UnknownPlansError: the table has plans that Kafka does not know."""
        known = self._known
        if known is None or table.name in self._seen or not table.exactly_once:
            return
        self._seen.add(table.name)
        found = table.last_plans(self._connector)
        own = found.pop(known.application, None)
        if own is not None and own > known.number:
            text = f"it has plan {own} of this connector, and plan {known.number} is the last that Kafka knows"
        elif known.begins and found:
            names = ", ".join(f"{name}:{number}" for name, number in sorted(found.items()))
            text = f"it has plans of a connector with this name ({names}), and Kafka knows none"
        else:
            return
        at = resume_command(self._connector, known.reached)
        raise UnknownPlansError(
            f"connector {self._connector}: table {table.name}: {text}: the offset topic has lost records or was"
            " restored, or another cluster writes to the table under the same name. Rows would be there twice, or be"
            f" missing. Compare the table with the topics, then say where to resume; here it would be `{at}`"
        )


def lost(what: str, connector: str, at: Mapping[TopicPartition, int] | None, *, others: bool = False) -> DataError:
    """The error about tables that do not have any more what they took.

    :param at: where the first of these plans begins; None: it is not known.
    :param others: there are tables that have lost nothing.
    """
    remedy = f"`{resume_command(connector, at or {})}`"
    if at:
        remedy = f"{remedy} has what is missing written again" + (", to all tables" if others else "")
    else:
        remedy = f"`kconnect offsets alter` to where it is to resume; {remedy} has all that topics have written again"
    return DataError(
        f"{what}: it was restored, replaced or created again. Compare the table with the topics, then alter the"
        f" connector's offsets: {remedy}"
    )


def _lost(table: Table, known: KnownPlans, number: int) -> str | None:
    """What a table had and does not have any more. One that is not there may not be needed any more."""
    if table.columns() is None:
        return None
    found = table.last_plan(known.application)
    if found is None and not table.has(SinkPlan(known.application, number, ())):
        return f"table {table.name}: it has no plan of this connector, and it took plan {number}"
    if found is None or found >= number:
        return None
    return f"table {table.name}: plan {found} is the last that it has, and it took plan {number}"
