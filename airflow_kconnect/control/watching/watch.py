"""What the Connectors page asks for: all connectors in short, one of them in full, lags, dead letters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Any

from airflow_kconnect.connect.sink_topics import sink_group
from airflow_kconnect.control.kinds import kind
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.watching.dead_letters import TOPIC, DeadLetters
from airflow_kconnect.control.watching.lags import Lags, LagsFound, sinks_of
from airflow_kconnect.control.watching.offsets import CommittedOffsets
from airflow_kconnect.control.watching.summaries import detail, summary
from airflow_kconnect.stores.config_topic.state import ConnectorState


class Watch:
    """Looks at the connectors of a control plane. Thread-safe."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def start(self) -> None:
        """Begin to read what an overview needs, while others wait for the connectors."""
        self._offsets.start()

    def summaries(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """The registered connectors of these names in short; makes no request once the topics have been read."""
        known = self._plane.registered()
        return [self._summary(known[name]) for name in names if name in known]

    def detail(self, name: str) -> dict[str, Any]:
        """One connector in full, secrets hidden. :raises NotFoundError: there is no such connector."""
        state = self._plane.registered_state(name)
        status = self._plane.known_status(name)
        more = detail(self._summary(state), self._plane.config(name), status)
        return {**more, "dead_letter_topic": state.texts.get(TOPIC) or None, "history": self._plane.history(name)}

    def lags(self, names: Iterable[str]) -> LagsFound:
        """The lag of those of the connectors that are sinks, asked of the broker at most every few seconds."""
        known = self._plane.registered()
        found = self._lags.of(sinks_of((name, known[name].texts) for name in known))
        visible = set(names)
        lags = {name: lag for name, lag in found.lags.items() if name in visible}
        return LagsFound(lags, found.problem, found.at_ms)

    def dead_letters(self, name: str) -> dict[str, Any]:
        """See `DeadLetters.count`. :raises NotFoundError: there is no such connector."""
        return self._dead_letters.count(self._plane.registered_state(name).texts)

    def last_dead_letters(self, name: str, most: int) -> list[dict[str, Any]]:
        """See `DeadLetters.last`. :raises NotFoundError: there is no such connector."""
        return self._dead_letters.last(name, self._plane.registered_state(name).texts, most)

    def close(self) -> None:
        """End the background thread."""
        if "_offsets" in self.__dict__:
            self._offsets.close()

    @cached_property
    def _offsets(self) -> CommittedOffsets:
        return CommittedOffsets(self._plane.worker)

    @cached_property
    def _lags(self) -> Lags:
        return Lags(self._plane.worker)

    @cached_property
    def _dead_letters(self) -> DeadLetters:
        return DeadLetters(self._plane.worker)

    def _summary(self, state: ConnectorState) -> dict[str, Any]:
        texts = state.texts
        known = kind(texts, self._plane.worker)
        offsets = self._offsets.of(state.name, known, sink_group({**texts, "name": state.name}))
        return summary(state, known, self._plane.known_status(state.name), offsets)


_watches: dict[ControlPlane, Watch] = {}
_watches_lock = Lock()


def watch_of(plane: ControlPlane) -> Watch:
    """The watch of a control plane, which ends with it. :raises RetriableError: the plane was closed."""
    with _watches_lock:
        watch = _watches.get(plane)
        if watch is None:
            plane.at_close(lambda: _forget(plane))
            watch = _watches[plane] = Watch(plane)
            watch.start()
        return watch


def _forget(plane: ControlPlane) -> None:
    with _watches_lock:
        watch = _watches.pop(plane, None)
    if watch is not None:
        watch.close()
