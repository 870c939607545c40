"""What the errors of DuckDB mean: their texts begin with the name of a kind."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.condition import Condition

_LOCKED = "Could not set lock on file"
_KINDS = {
    Condition.PASSING: ("Transaction", "TransactionContext", "Out of Memory", "INTERRUPT"),
    Condition.DATABASE: ("IO", "Permission", "Serialization"),
    Condition.ROW: ("Constraint", "Conversion", "Out of Range", "Mismatch Type", "Invalid Type"),
}
_BY_KIND = {kind: condition for condition, kinds in _KINDS.items() for kind in kinds}


def is_locked(text: str) -> bool:
    """Whether another process has the file open."""
    return _LOCKED in text


def by_kind(text: str) -> Condition | None:
    """The meaning of an error such as ``Constraint Error: Duplicate key``; None: it has no special one."""
    if is_locked(text) or "No space left" in text:
        return Condition.PASSING
    head, _, rest = text.partition(" Error: ")
    return _BY_KIND.get(head.rpartition(": ")[2]) if rest else None
