"""Who sees which connector in the list: a registered one by its name, another one by the DAG that has run it."""

from __future__ import annotations

from airflow_kconnect.control.overview.known import Known
from airflow_kconnect.control.overview.watch import Seen, Watch
from airflow_kconnect.rest.access import Caller
from airflow_kconnect.rest.errors import RestError


def visible(caller: Caller, seen: Seen) -> list[str]:
    """The connectors that a caller may see, by name."""
    registered = set(caller.readable(name for name, known in seen.connectors.items() if known.registered))
    others = {name: _dag(known) for name, known in seen.connectors.items() if not known.registered}
    # One question for each DAG: a DAG may have hundreds of connectors.
    readable = {dag for dag in set(others.values()) if caller.may_read_dag(dag)}
    return [name for name in seen.connectors if name in registered or (name in others and others[name] in readable)]


def check_seen(caller: Caller, watch: Watch, name: str) -> None:
    """Whether a caller may see a connector, registered or not.

    :raises RestError: 403. :raises NotFoundError: there is none, and the caller might see it.
    """
    known = watch.unregistered(name)
    if known is None:
        caller.check_read(name)
    elif not may_see(caller, known):
        raise RestError(403, f"{caller} may not see connector {name}")


def may_see(caller: Caller, known: Known) -> bool:
    """Whether a caller may see a connector that is not registered."""
    return caller.may_read_dag(_dag(known))


def check_records_seen(caller: Caller, watch: Watch, name: str) -> None:
    """Whether a caller may see records of a connector: for those who may change it. Raises what `check_seen` does."""
    known = watch.unregistered(name)
    if known is None:
        caller.check_write(name)
    elif not caller.may_edit_dag(_dag(known)):
        raise RestError(403, f"{caller} may not see records of connector {name}")


def _dag(known: Known) -> str | None:
    return None if known.origin is None else known.origin.dag
