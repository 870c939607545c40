"""`@sink`: a function that is given records becomes a sink connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args, overload

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.functions.decorated import Decorated, P, R, decorated
from airflow_kconnect.functions.failures import UNAVAILABLE, failure
from airflow_kconnect.functions.parameters import (
    Parameter,
    arguments,
    define,
    first_parameter,
    hints_of,
    parameters_of,
    refuse_unawaited,
)

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_SIZE = "batch.size"


@dataclass(frozen=True)
class SinkSpec:
    """What a decorator was told about a function.

    :param takes: ``dicts``, ``records`` or ``table``. :param batch: records of a call, by default.
    """

    function: Callable[..., Any]
    takes: str
    batch: int
    idempotent: bool
    parameters: tuple[Parameter, ...]


@overload
def sink(function: Callable[P, R]) -> Decorated[P, R]: ...
@overload
def sink(*, batch: int = 500, idempotent: bool = False) -> Callable[[Callable[P, R]], Decorated[P, R]]: ...
def sink(function: Callable[..., Any] | None = None, *, batch: int = 500, idempotent: bool = False) -> Any:
    """Make a sink connector of a function that writes a batch of records.

    Its first parameter is the batch: a list of `SinkRecord`, or of the values alone (``list[dict]``, or no annotation),
    or a ``pyarrow.Table`` of these. The other parameters are the connector's keys, as those of `source` are.

    A batch has consecutive records of one topic-partition. When the function returns, they are written; when it raises,
    none of them counts as written, and the next run gives them again: at least once. `ConnectionError`, `TimeoutError`
    and `RetriableError` are worth a retry, everything else is an error of the data or the function.

    :param batch: at most this many records in a call; the default of the key `batch.size`.
    :param idempotent: whether writing records again does no harm, as with an upsert by key: then intervals can be
        replayed.
    :raises TypeError: the function cannot be a connector.
    """

    def decorate(function: Callable[P, R]) -> Decorated[P, R]:
        refuse_unawaited(function)
        spec = SinkSpec(function, _taken(function), batch, idempotent, parameters_of(function, (), first=1))
        return decorated(function, FunctionSinkConnector, spec)

    return decorate if function is None else decorate(function)


def _taken(function: Callable[..., Any]) -> str:
    """What the first parameter is. :raises TypeError: there is none."""
    hint = hints_of(function).get(first_parameter(function))
    if SinkRecord in (hint, *get_args(hint)):
        return "records"
    return "table" if getattr(hint, "__name__", "") == "Table" else "dicts"


def _config(spec: SinkSpec) -> ConfigDef:
    config = ConfigDef().define(
        BATCH_SIZE, Type.INT, spec.batch, Importance.LOW, "Records of a call, at most.", validator=Range.at_least(1)
    )
    return define(config, spec.parameters)


class FunctionSinkConnector(PollSinkConnector):
    """What `@sink` makes of a function; `spec` is in a subclass for each."""

    spec: ClassVar[SinkSpec]

    @classmethod
    def config(cls) -> ConfigDef:
        return _config(cls.spec)

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        if cls.spec.idempotent:
            return None
        return "does not say that writing records again does no harm; if it does none: @sink(idempotent=True)"

    def task_class(self) -> Callable[[], SinkTask]:
        return FunctionSinkTasks(self.spec)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]


@dataclass(frozen=True)
class FunctionSinkTasks:
    """Creates the tasks of a function; pickled."""

    spec: SinkSpec

    @property
    def __name__(self) -> str:
        return self.spec.function.__name__

    def __call__(self) -> SinkTask:
        named: type[FunctionSinkTask] = type(self.__name__, (FunctionSinkTask,), {})  # as errors call it
        return named(self.spec)


class FunctionSinkTask(SinkTask):
    """Calls the function with batches."""

    def __init__(self, spec: SinkSpec) -> None:
        self._spec = spec

    def start(self, props: Mapping[str, str]) -> None:
        values = _config(self._spec).parse(props)
        self._size: int = values[BATCH_SIZE]
        self._arguments = arguments(self._spec.parameters, values)

    def put(self, records: Sequence[SinkRecord]) -> None:
        records = [record for record in records if self._spec.takes == "records" or self._has_value(record)]
        try:
            for batch in self._batches(records):
                self._spec.function(batch, **self._arguments)
        except UNAVAILABLE as error:
            raise failure(self._spec.function.__name__, error) from error

    def _batches(self, records: Sequence[SinkRecord]) -> Iterator[list[Any] | pa.Table]:
        for start in range(0, len(records), self._size):
            batch = records[start : start + self._size]
            if self._spec.takes == "records":
                yield batch
                continue
            values = [record.value for record in batch]
            yield _table(values) if self._spec.takes == "table" else values

    def _has_value(self, record: SinkRecord) -> bool:
        """Whether the record has a value. A tombstone has none, and no place in a list of values: it is a bad record.

        :raises DataError: bad records end the run.
        """
        if record.value is not None:
            return True
        where = f"{record.topic}-{record.partition}@{record.kafka_offset}"
        name = self._spec.function.__name__
        error = DataError(f"{where} is a tombstone, and {name} takes values only: let it take list[SinkRecord]")
        if self.context.errant_record_reporter is None:
            raise error
        self.context.errant_record_reporter.report(record, error)
        return False

    def flush(self, offsets: Mapping[Any, int]) -> None:
        """Nothing is left to write: each `put` has written."""


def _table(values: list[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(values)
