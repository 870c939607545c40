"""What a sink function says, in its signature and its decorator: its keys, and what its first parameter gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.functions.parameters import Parameter, define, first_parameter, hints_of

BATCH_SIZE = "batch.size"
BATCH_ID = "batch_id"
"""A parameter that is not a key: the identity of a batch, for a function that takes a DataFrame."""


@dataclass(frozen=True)
class SinkSpec:
    """What a decorator was told about a function.

    :param takes: ``dicts``, ``records``, ``table`` or ``frame``. :param batch: records of a call, by default.
    :param given: parameters that are not keys.
    """

    function: Callable[..., Any]
    takes: str
    batch: int
    idempotent: bool
    parameters: tuple[Parameter, ...]
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.function.__name__

    def config(self) -> ConfigDef:
        """The keys."""
        config = ConfigDef().define(
            BATCH_SIZE, Type.INT, self.batch, Importance.LOW, "Records of a call, at most.", validator=Range.at_least(1)
        )
        return define(config, self.parameters)

    def replay_problem(self) -> str | None:
        """Why an interval cannot be replayed."""
        if self.idempotent:
            return None
        return "does not say that writing records again does no harm; if it does none: @sink(idempotent=True)"


def taken(function: Callable[..., Any]) -> str:
    """What the first parameter is. :raises TypeError: there is none, or it is another library's frame."""
    first = first_parameter(function)
    if _is_spark_frame(function, first):
        return "frame"
    hint = hints_of(function).get(first)
    if getattr(hint, "__name__", "") == "DataFrame":
        other = f"{function.__name__}: `{first}` is a DataFrame of {hint.__module__.partition('.')[0]}"
        raise TypeError(
            f"{other}; take a pyarrow.Table, which has `to_pandas()`, list[dict], or a DataFrame of PySpark"
        )
    if SinkRecord in (hint, *get_args(hint)):
        return "records"
    return "table" if getattr(hint, "__name__", "") == "Table" else "dicts"


def default_batch(takes: str) -> int:
    """How many records are a batch, at most, unless the decorator or the configuration says it."""
    return 1_000_000 if takes == "frame" else 500


def _is_spark_frame(function: Callable[..., Any], name: str) -> bool:
    """Whether a parameter is a DataFrame of Spark: it may be imported for type checkers only, to do without Spark."""
    hint = function.__annotations__.get(name)
    if not isinstance(hint, str):
        return _is_of_spark(hint)
    module, _, last = hint.rpartition(".")
    if last != "DataFrame":
        return False
    root = module.partition(".")[0] or last
    known = getattr(function, "__globals__", {})
    return _is_of_spark(known[root]) if root in known else True


def _is_of_spark(thing: Any) -> bool:
    """A class or a module."""
    return str(getattr(thing, "__module__", getattr(thing, "__name__", ""))).partition(".")[0] == "pyspark"
