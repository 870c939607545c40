"""Which table a record goes to: names of tables, as texts and as identifiers. Pure rules."""

from __future__ import annotations

from airflow_kconnect.connectors.table.identifiers import identifier, parts_of
from airflow_kconnect.connectors.table.settings import RECORD_KEY, ROUTE, TOPIC, UPSERT, Routing, TableSettings


def full_name(routing: Routing, name: str) -> str:
    """A table's name with its prefix, as Spark's SQL and reports have it: whatever is in a part, it is nothing but a
    name there.

    :param name: as `table_of` returns it.
    :raises ValueError: it is not the name of a table.
    """
    return identifier((*routing.prefix, *parts_of(name)))


def own_name(routing: Routing, full_name: str) -> str:
    """The name without its prefix, as settings of single tables have it."""
    return identifier(parts_of(full_name)[len(routing.prefix) :])


def with_suffix(name: str, suffix: str) -> str:
    """The name of a table next to another one."""
    *before, last = parts_of(name)
    return identifier((*before, last + suffix))


def by_record(routing: Routing) -> bool:
    """Whether each record says where it goes to."""
    return bool(routing.value_field or routing.header)


def name_format(routing: Routing) -> str:
    """The format of names; records that say where they go to need not be mentioned in it."""
    if by_record(routing) and routing.name_format == TOPIC:
        return ROUTE
    return routing.name_format


def table_of(routing: Routing, topic: str) -> str:
    """The name of a topic's table, without prefix, where records say nothing."""
    return name_format(routing).replace(TOPIC, topic)


def needed_parts(settings: TableSettings) -> frozenset[str]:
    """Which parts of a record are used besides its value: see `PlannedSinkConnector.needs`."""
    needed = {part if part in ("key", "timestamp") else "partition" for part in settings.metadata if part != "offset"}
    if settings.pk_mode == RECORD_KEY:
        needed.add("key")
    if settings.mode == UPSERT:  # they say which one of several changes is the last
        needed |= {"timestamp", "topic", "partition"}
    if settings.routing.header and not settings.routing.patterns:
        needed.add("headers")
    if TOPIC in settings.routing.name_format:
        needed.add("topic")
    return frozenset(needed)
