"""One pass over a resource of dlt: its pages, and the state after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connectors.dlt.resuming import resumes_after_pages

if TYPE_CHECKING:
    from dlt.common.configuration.specs.base_configuration import ContainerInjectableContext
    from dlt.extract.incremental import Incremental
    from dlt.extract.source import DltSource


@dataclass(frozen=True)
class Page:
    """What a resource has yielded at once.

    :param meta: which table it is for, or hints, if the resource has said so.
    :param is_resume_point: whether the state covers all that was yielded so far.
    """

    items: list[Any]
    meta: Any
    is_resume_point: bool


def encoded_state(sources: Mapping[str, Any]) -> str:
    """dlt's state as JSON in which dates, decimals and bytes are marked, as in dlt's own files."""
    from dlt.common.json import json

    text: str = json.typed_dumps(sources, sort_keys=True)
    return text


def decoded_state(text: str) -> dict[str, Any]:
    from dlt.common.json import json

    sources: dict[str, Any] = json.typed_loads(text)
    return sources


class Reading:
    """Reads a resource as dlt's own extract step does, alone: what it takes its data from is read with it, and is part
    of its state.

    :param source: a new one. :param state: `encoded_state` of what was read before; None: nothing.
    :param resume_after: `auto`, `resource` or `page`.
    """

    def __init__(self, source: DltSource, name: str, state: str | None, resume_after: str) -> None:
        self._source = source.with_resources(name)
        self.resource = self._source.resources[name]
        self._sources = decoded_state(state) if state else {}
        self._resume_after = resume_after
        self._start_like_dlt()
        self._before = self._own_state()

    @property
    def state(self) -> str:
        """The state as it is now."""
        return encoded_state(self._sources)

    def pages(self) -> Iterator[Page]:
        """Empty ones are left out."""
        from dlt.common.configuration.container import Container
        from dlt.extract.pipe_iterator import ManagedPipeIterator

        contexts = self._contexts()
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(Container().injectable_context(context))
            iterator: Any = ManagedPipeIterator.from_pipes(self._source.resources.selected_pipes)
        iterator.set_context(contexts)  # for each item
        try:
            for item in iterator:
                items = list(_rows(item.item))
                if items:
                    yield Page(items, item.meta, self._is_resume_point(iterator))
        finally:
            iterator.close()

    def _contexts(self) -> list[ContainerInjectableContext]:
        from dlt.common.pipeline import StateInjectableContext
        from dlt.extract.source import SourceInjectableContext, SourceSchemaInjectableContext

        return [
            self._source._get_config_section_context(),
            StateInjectableContext(state={"sources": self._sources}),
            SourceSchemaInjectableContext(self._source.schema),
            SourceInjectableContext(self._source),
        ]

    def _start_like_dlt(self) -> None:
        """A resource that replaces its table is read from the start each time."""
        from dlt.extract.state import reset_resource_state

        state = self._sources.setdefault(self._source.name, {})
        for resource in self._source.resources.extracted:
            if resource.write_disposition == "replace":
                reset_resource_state(resource.name, state)

    def _is_resume_point(self, iterator: Any) -> bool:
        if self._resume_after != "auto":
            return self._resume_after == "page"
        # Items that are still being made, in threads or by nested iterators, may come before or after this one.
        alone = iterator._futures_pool.empty and len(iterator._sources) <= 1
        if not alone or self.resource.is_transformer or self._own_state() != self._before:
            return False
        return resumes_after_pages(self._incremental())

    def _incremental(self) -> Incremental[Any] | None:
        step: Any = self.resource.incremental
        incremental: Incremental[Any] | None = getattr(step, "incremental", step)
        return incremental

    def _own_state(self) -> dict[str, Any]:
        """What the source's own code keeps: all but the cursor of the resource."""
        state = deepcopy(self._sources)
        state.get(self._source.name, {}).get("resources", {}).get(self.resource.name, {}).pop("incremental", None)
        return _without_empty(state)


def _without_empty(state: dict[str, Any]) -> dict[str, Any]:
    """dlt creates its dictionaries as soon as they are asked for."""
    found = {key: _without_empty(value) if isinstance(value, dict) else value for key, value in state.items()}
    return {key: value for key, value in found.items() if value != {}}


def _rows(item: Any) -> Iterator[Any]:
    """The records of what was yielded at once: one, a list, or a table of Arrow, pandas or Polars."""
    if isinstance(item, list | tuple):
        for each in item:
            yield from _rows(each) if _is_table(each) else (each,)
    elif _is_table(item):
        yield from item.to_pylist() if hasattr(item, "to_pylist") else _records_of_frame(item)
    elif item is not None:
        yield item


def _is_table(item: Any) -> bool:
    from dlt.common.libs import is_arrow_object, is_pandas_frame, is_polars_frame

    return bool(is_arrow_object(item) or is_pandas_frame(item) or is_polars_frame(item))


def _records_of_frame(frame: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return records
