"""`@sink`: a function that is given records becomes a sink connector."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.functions.decorated import Decorated, P, R, decorated
from airflow_kconnect.functions.failures import UNAVAILABLE, failure
from airflow_kconnect.functions.frame_sink import FunctionFrameSinkConnector
from airflow_kconnect.functions.parameters import arguments, parameters_of, refuse_unawaited
from airflow_kconnect.functions.sink_spec import BATCH_ID, BATCH_SIZE, SinkSpec, default_batch, taken

if TYPE_CHECKING:
    import pyarrow as pa


@overload
def sink(function: Callable[P, R]) -> Decorated[P, R]: ...
@overload
def sink(*, batch: int | None = None, idempotent: bool = False) -> Callable[[Callable[P, R]], Decorated[P, R]]: ...
def sink(function: Callable[..., Any] | None = None, *, batch: int | None = None, idempotent: bool = False) -> Any:
    """Make a sink connector of a function that writes a batch of records.

    Its first parameter is the batch: a list of `SinkRecord`, or of the values alone (``list[dict]``, or no annotation),
    or these as a ``pyarrow.Table`` or as a ``DataFrame`` of Spark. The other parameters are the connector's keys, as
    those of `source` are.

    A batch has consecutive records of one topic-partition; a DataFrame has records of all of them. When the function
    returns, they are written; when it raises, none of them counts as written, and the next run gives them again: at
    least once. `ConnectionError`, `TimeoutError` and `RetriableError` are worth a retry, everything else is an error of
    the data or the function.

    A function of a DataFrame is called in the driver, where Spark keeps the rows of a batch until it returns. A batch
    that it may have written before comes again with the same records and the same `batch_id`, a text, if it has a
    parameter of this name. So it is exactly once if it writes each batch in place of what has this text.

    :param batch: at most this many records in a call; the default of the key `batch.size`. None: 500, or 1,000,000 of a
        DataFrame.
    :param idempotent: whether writing records again does no harm, as with an upsert by key: then intervals can be
        replayed.
    :raises TypeError: the function cannot be a connector.
    """

    def decorate(function: Callable[P, R]) -> Decorated[P, R]:
        refuse_unawaited(function)
        takes = taken(function)
        given = tuple({BATCH_ID} & set(inspect.signature(function).parameters)) if takes == "frame" else ()
        parameters = parameters_of(function, given, first=1)
        spec = SinkSpec(function, takes, batch or default_batch(takes), idempotent, parameters, given)
        return decorated(function, FunctionFrameSinkConnector if takes == "frame" else FunctionSinkConnector, spec)

    return decorate if function is None else decorate(function)


class FunctionSinkConnector(PollSinkConnector):
    """What `@sink` makes of a function; `spec` is in a subclass for each."""

    spec: ClassVar[SinkSpec]

    @classmethod
    def config(cls) -> ConfigDef:
        return cls.spec.config()

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        return cls.spec.replay_problem()

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
        return self.spec.name

    def __call__(self) -> SinkTask:
        named: type[FunctionSinkTask] = type(self.__name__, (FunctionSinkTask,), {})  # as errors call it
        return named(self.spec)


class FunctionSinkTask(SinkTask):
    """Calls the function with batches."""

    def __init__(self, spec: SinkSpec) -> None:
        self._spec = spec

    def start(self, props: Mapping[str, str]) -> None:
        values = self._spec.config().parse(props)
        self._size: int = values[BATCH_SIZE]
        self._arguments = arguments(self._spec.parameters, values)

    def put(self, records: Sequence[SinkRecord]) -> None:
        records = [record for record in records if self._spec.takes == "records" or self._has_value(record)]
        try:
            for batch in self._batches(records):
                self._spec.function(batch, **self._arguments)
        except UNAVAILABLE as error:
            raise failure(self._spec.name, error) from error

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
        name = self._spec.name
        text = f"it is a tombstone, and {name} takes values only: let it take list[SinkRecord]"
        self.context.report(record, DataError(text))
        return False

    def flush(self, offsets: Mapping[Any, int]) -> None:
        """Nothing is left to write: each `put` has written."""


def _table(values: list[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(values)
