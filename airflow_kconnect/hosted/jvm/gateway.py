"""What a JVM is asked through py4j."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.jvm.log import LogPump

T = TypeVar("T")


class JavaEnded(RetriableError):
    """The JVM has ended by itself: it was killed, ran out of memory, or a plug-in called `System.exit`."""


class HostGateway(ABC):
    """A connection to a JVM.

    Requests of one thread are answered by one thread in Java as long as no other thread uses the same connection: so
    each run has one of its own. A thread in Java keeps the class loader that was set for it.

    :param folder: private to the user of the connection.
    :param log: of the JVM.
    """

    def __init__(self, folder: Path, log: LogPump) -> None:
        self.folder, self.log = folder, log
        self._gateway: Any = None

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether the JVM runs."""

    @abstractmethod
    def has_ended(self) -> bool:
        """Whether it has ended; one that is just ending is waited for."""

    @abstractmethod
    def ended(self, doing: str) -> JavaEnded:
        """The error for a JVM that ended while something was asked of it."""

    @abstractmethod
    def another(self) -> OwnGateway:
        """A connection to the same JVM, for another thread."""

    @property
    def view(self) -> Any:
        """Java's packages: `view.java.util.HashMap()`."""
        return self._gateway.jvm

    def array(self, of: Any, *items: Any) -> Any:
        """A Java array."""
        array = self._gateway.new_array(of, len(items))
        for index, item in enumerate(items):
            array[index] = item
        return array

    def items(self, collection: Any) -> list[Any]:
        """What is in a Java collection. py4j's own iteration takes any error for the end: part of a collection, or
        nothing of it, would pass for the whole.
        """
        return list(collection.toArray())

    def text_map(self, texts: Mapping[str, str]) -> Any:
        """A `java.util.HashMap` of texts."""
        result = self.view.java.util.HashMap()
        for key, text in texts.items():
            result.put(key, text)
        return result

    def java_class(self, name: str) -> Any:
        """A `java.lang.Class` by its name."""
        return self.view.java.lang.Class.forName(name)

    def call(self, doing: str, function: Callable[[], T], *, timeout_s: float | None = None) -> T:
        """The result of a function that uses the gateway.

        :param doing: for the text of the error.
        :param timeout_s: how long it may take; it runs in a thread of its own then, which is abandoned.
        :raises JavaEnded: the JVM has ended. :raises RetriableError: it took too long.
        :raises Py4JJavaError: Java threw an exception.
        """
        from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

        try:
            return function() if timeout_s is None else _in_time(doing, function, timeout_s)
        except Py4JJavaError:
            raise
        except (Py4JError, OSError) as error:
            # A call that is cut off may have any of these errors.
            if isinstance(error, Py4JNetworkError | OSError) or self.has_ended():
                raise self.ended(doing) from None
            # Where there is a Spark session, PySpark asks Spark's JVM about errors of all others, by their ids: where
            # another object has the id there, that fails, and the error is only the context of its failure.
            if isinstance(error.__context__, Py4JJavaError):
                raise error.__context__ from None
            raise


class OwnGateway(HostGateway):
    """A connection that ends before its JVM does."""

    @abstractmethod
    def close(self) -> None:
        """End it."""


def _in_time(doing: str, function: Callable[[], T], timeout_s: float) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="hosted-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise RetriableError(f"{doing} did not end within {timeout_s:.0f} s")
    if errors:
        raise errors[0]
    return results[0]
