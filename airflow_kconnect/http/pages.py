"""The pages of a REST API: how the next one is asked for, and which records an answer has."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.functions.http import AnswerError, shown
from airflow_kconnect.functions.positions import State
from airflow_kconnect.http.connection import about_configuration, explained, open_client, refuse_redirect, secrets_of

URL, METHOD, PARAMS, BODY = "http.request.url", "http.request.method", "http.request.params", "http.request.body"
LIST, RECORD = "http.response.list.pointer", "http.response.record.pointer"
PAGING, PARAM, START = "kconnect.http.paging", "kconnect.http.paging.param", "kconnect.http.paging.start"
SIZE, SIZE_PARAM = "kconnect.http.paging.size", "kconnect.http.paging.size.param"
POINTER, RESUME = "kconnect.http.paging.pointer", "kconnect.http.paging.resume"
CURSOR, INITIAL, SORT = "kconnect.http.cursor.fields", "kconnect.http.cursor.initial", "kconnect.http.sort"
INTERVAL_MS = "kconnect.http.interval.ms"

ALL_AT_ONCE, BY_PAGE, BY_OFFSET, BY_CURSOR, BY_LINK, BY_URL = "none", "page", "offset", "cursor", "link", "url"
PLACEHOLDER = "{cursor}"
_wait = time.sleep

At = int | str | None
"""Where a page is: its number, the number of records before it, a cursor, or a URL; None: the first one."""


@dataclass(frozen=True)
class Pages:
    """The function of a source that resumes by a cursor in its records, or not at all; pickled.

    :param values: parsed values of the connector's keys.
    """

    values: Mapping[str, Any]
    __name__ = "HttpSource"

    def __call__(self, cursor: Any = None) -> Iterator[Any]:
        first = cursor[0] if isinstance(cursor, tuple) else cursor
        records = (record for _, page in _pages(self.values, None, first) for record in page)
        if not self.values[SORT]:
            return records
        return iter(sorted(records, key=self._place))

    def _place(self, record: Mapping[str, Any]) -> list[Any]:
        """:raises DataError: the record does not say."""
        place = [record.get(field) for field in self.values[CURSOR]]
        if None in place:
            raise DataError(f"a record has not all of {', '.join(self.values[CURSOR])}: {json.dumps(record)[:200]}")
        return place


@dataclass(frozen=True)
class ResumedPages:
    """The function of a source that resumes with the last page that it has read."""

    values: Mapping[str, Any]
    __name__ = "HttpSource"

    def __call__(self, state: dict[str, Any]) -> Iterator[Any]:
        for at, page in _pages(self.values, state.get("at"), None):
            yield State(at=at)
            yield from page


def _pages(values: Mapping[str, Any], at: At, cursor: Any) -> Iterator[tuple[At, list[Any]]]:
    """Each page with where it is."""
    next_of, seen = _NEXT[values[PAGING]], set[At]()
    with open_client(values, URL) as client:
        while True:
            answer = _Answer.of(values, _asked(client, values, at, cursor))
            yield at, answer.records()
            seen.add(at)
            at = next_of(answer, at)
            if at is None:
                return
            if at in seen:
                raise DataError(f"{answer.what}: the next page is one that was read already: look at `{PAGING}`")
            _wait(values[INTERVAL_MS] / 1000)


def _asked(client: httpx.Client, values: Mapping[str, Any], at: At, cursor: Any) -> httpx.Response:
    """:raises ConfigError: the server does not know the address, or the login. :raises DataError: it refuses."""
    url = _url(values, at)
    params = None if url != values[URL] else _params(values, at, cursor)
    body = _filled(values, values[BODY], cursor) if values[BODY] else None
    try:
        response = client.request(values[METHOD].upper(), url, params=params, content=body)
        refuse_redirect(response, URL)
        return response
    except AnswerError as error:
        secrets = secrets_of(values)
        raise about_configuration(error, URL, secrets) or DataError(explained(error, secrets)) from error


def _url(values: Mapping[str, Any], at: At) -> str:
    """:raises DataError: the next page is on another server, which must not get the login."""
    if values[PAGING] not in (BY_LINK, BY_URL) or at is None:
        return str(values[URL])
    url: str = urljoin(values[URL], str(at))
    if _origin(url) != _origin(values[URL]):
        raise DataError(
            f"the next page is on another server, {_origin(url)}, and the login is for {_origin(values[URL])}"
        )
    return url


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _params(values: Mapping[str, Any], at: At, cursor: Any) -> list[tuple[str, str | int | float | bool | None]]:
    """Those of the URL itself, too: httpx would drop them."""
    own: list[tuple[str, str | int | float | bool | None]]
    own = [*parse_qsl(urlsplit(values[URL]).query, keep_blank_values=True)]
    for name, text in parse_qsl(values[PARAMS], keep_blank_values=True):
        if (filled := _filled(values, text, cursor)) is not None:
            own.append((name, filled))
    kind, size = values[PAGING], values[SIZE]
    if kind in (BY_PAGE, BY_OFFSET) or at is not None:
        own.append((values[PARAM] or kind, str(_start(values) if at is None else at)))
    return own + ([(values[SIZE_PARAM], str(size))] if size else [])


def _start(values: Mapping[str, Any]) -> int:
    given = values[START]
    return (1 if values[PAGING] == BY_PAGE else 0) if given is None else int(given)


def _filled(values: Mapping[str, Any], text: str, cursor: Any) -> str | None:
    """A text with the cursor in it; None: there is none yet."""
    if PLACEHOLDER not in text:
        return text
    cursor = values[INITIAL] if cursor is None else cursor
    return None if cursor is None else text.replace(PLACEHOLDER, str(cursor))


@dataclass(frozen=True)
class _Answer:
    """An answer that was read as JSON."""

    values: Mapping[str, Any]
    response: httpx.Response
    data: Any

    @classmethod
    def of(cls, values: Mapping[str, Any], response: httpx.Response) -> _Answer:
        """:raises DataError: it is not JSON."""
        try:
            return cls(values, response, json.loads(response.content) if response.content.strip() else None)
        except ValueError as error:
            kind = response.headers.get("content-type", "without a type")
            text = f"{shown(response.request)}: the answer ({kind}) is not JSON: {error}"
            raise DataError(text) from error

    @property
    def what(self) -> str:
        return shown(self.response.request)

    def found(self, pointer: str, data: Any) -> Any:
        """What a JSON Pointer points to; None: there is nothing."""
        for name in pointer.strip("/").split("/") if pointer.strip("/") else ():
            name = name.replace("~1", "/").replace("~0", "~")
            if isinstance(data, Mapping):
                data = data.get(name)
            else:
                is_index = isinstance(data, list) and name.isdigit() and int(name) < len(data)
                data = data[int(name)] if is_index else None
        return data

    def items(self) -> list[Any]:
        """:raises DataError: where the list should be, there is none."""
        pointer = self.values[LIST]
        found = self.found(pointer, self.data)
        if isinstance(found, list):
            return found
        if found is None and (pointer.strip("/") == "" or self._has(pointer)):
            return []
        if isinstance(found, Mapping):
            return [found]
        has = ", ".join(map(str, self.data)) if isinstance(self.data, Mapping) else type(self.data).__name__
        raise DataError(f"{self.what}: the answer has no list at {pointer} (`{LIST}`), only {has or 'nothing'}")

    def _has(self, pointer: str) -> bool:
        """Whether the member is there, as null."""
        parent, _, name = pointer.rstrip("/").rpartition("/")
        above = self.found(parent, self.data)
        return isinstance(above, Mapping) and name in above

    def records(self) -> list[Any]:
        """:raises DataError: one of them is not an object."""
        found = [self.found(self.values[RECORD], item) for item in self.items()]
        odd = next((each for each in found if not isinstance(each, Mapping)), None)
        if odd is not None or None in found:
            raise DataError(f"{self.what}: a record is not an object, but {json.dumps(odd)[:100]}: see `{RECORD}`")
        return found

    def next_page(self, at: At) -> At:
        return (_start(self.values) if at is None else int(at)) + 1 if self.items() else None

    def next_offset(self, at: At) -> At:
        count = len(self.items())
        return (_start(self.values) if at is None else int(at)) + count if count else None

    def next_pointed(self, at: At) -> At:
        found = self.found(self.values[POINTER], self.data)
        return None if found in (None, "", False) else str(found)

    def next_link(self, at: At) -> At:
        return self.response.links.get("next", {}).get("url")


_NEXT: Mapping[str, Callable[[_Answer, At], At]] = {
    ALL_AT_ONCE: lambda answer, at: None,
    BY_PAGE: _Answer.next_page,
    BY_OFFSET: _Answer.next_offset,
    BY_CURSOR: _Answer.next_pointed,
    BY_URL: _Answer.next_pointed,
    BY_LINK: _Answer.next_link,
}
